// A small thread pool, right and wrong: see thread_pool_right.cc and thread_pool_wrong.cc.
#ifndef EXAMPLES_THREAD_POOL_H_
#define EXAMPLES_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

// Runs tasks on `workers` threads. The destructor finishes all tasks and joins the threads.
// `stop_under_lock` is the difference between the two examples.
template <bool stop_under_lock>
class ThreadPool {
 public:
  explicit ThreadPool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
  }

  ~ThreadPool() {
    if (stop_under_lock) {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    } else {
      stopping_ = true;  // it is atomic: surely that is enough?
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Submit(std::function<void()> task) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      while (tasks_.empty() && !stopping_) wake_.wait(lock);
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

#endif  // EXAMPLES_THREAD_POOL_H_
