// RedBlackTree against the C++ library's own functions: the same random insertions and erasures
// make the same trees, node by node, and walks over them are the same.
#include "sched/red_black_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace mc::sched {
namespace {

// What was accessed, for the laws below.
struct AccessLog {
  std::set<const void*> loads, stores;
};

class LoggedMemory {
 public:
  explicit LoggedMemory(AccessLog* log) : log_(log) {}
  template <typename T>
  T Load(const T& place) {
    log_->loads.insert(&place);
    return place;
  }
  template <typename T>
  void Store(T& place, T value) {
    log_->stores.insert(&place);
    place = value;
  }

 private:
  AccessLog* log_;
};

using Tree = RedBlackTree<LoggedMemory>;
using LibraryNode = std::_Rb_tree_node_base;
static_assert(sizeof(LibraryNode) == sizeof(TreeNode));

// One tree of each kind, with the same numbers for corresponding nodes; number 0 is the header.
class Trees : public testing::Test {
 protected:
  static constexpr int kNodes = 160;

  Trees() : ours_(kNodes + 1), theirs_(kNodes + 1) {
    ours_[0] = {TreeColour::kRed, nullptr, &ours_[0], &ours_[0]};
    theirs_[0]._M_color = std::_S_red;
    theirs_[0]._M_parent = nullptr;
    theirs_[0]._M_left = theirs_[0]._M_right = &theirs_[0];
  }

  int Number(const TreeNode* node) const {
    return node == nullptr ? -1 : static_cast<int>(node - ours_.data());
  }
  int Number(const LibraryNode* node) const {
    return node == nullptr ? -1 : static_cast<int>(node - theirs_.data());
  }

  // Where a key belongs: the parent and the side.
  std::pair<int, bool> PlaceFor(int key) const {
    int parent = 0;
    bool left = true;
    for (const TreeNode* at = ours_[0].parent; at != nullptr;) {
      parent = Number(at);
      left = key < keys_.at(parent);
      at = left ? at->left : at->right;
    }
    return {parent, left};
  }

  void Insert(int node, int key) {
    const auto [parent, left] = PlaceFor(key);
    keys_[node] = key;
    const std::vector<TreeNode> before = ours_;
    AccessLog log;
    Tree(LoggedMemory(&log)).Insert(left, &ours_[node], &ours_[parent], ours_[0]);
    std::_Rb_tree_insert_and_rebalance(left, &theirs_[node], &theirs_[parent], theirs_[0]);
    ExpectChangesAreLogged(before, log);
  }
  void Erase(int node) {
    keys_.erase(node);
    const std::vector<TreeNode> before = ours_;
    AccessLog log;
    Tree(LoggedMemory(&log)).Erase(&ours_[node], ours_[0]);
    EXPECT_EQ(Number(std::_Rb_tree_rebalance_for_erase(&theirs_[node], theirs_[0])), node);
    ExpectChangesAreLogged(before, log);
  }

  void ExpectChangesAreLogged(const std::vector<TreeNode>& before, const AccessLog& log) {
    for (size_t i = 0; i < ours_.size(); ++i) {
      const TreeNode& now = ours_[i];
      const auto expect = [&](bool changed, const void* place) {
        EXPECT_TRUE(!changed || log.stores.contains(place)) << "node " << i;
      };
      expect(now.colour != before[i].colour, &now.colour);
      expect(now.parent != before[i].parent, &now.parent);
      expect(now.left != before[i].left, &now.left);
      expect(now.right != before[i].right, &now.right);
    }
  }

  void ExpectSameTrees() {
    std::vector<int> numbers = {0};
    for (const auto& [node, key] : keys_) numbers.push_back(node);
    for (const int i : numbers) {
      const TreeNode& a = ours_[static_cast<size_t>(i)];
      const LibraryNode& b = theirs_[static_cast<size_t>(i)];
      ASSERT_EQ(static_cast<int>(a.colour), static_cast<int>(b._M_color)) << "node " << i;
      ASSERT_EQ(Number(a.parent), Number(b._M_parent)) << "node " << i;
      ASSERT_EQ(Number(a.left), Number(b._M_left)) << "node " << i;
      ASSERT_EQ(Number(a.right), Number(b._M_right)) << "node " << i;
    }
  }

  void ExpectSameWalks() {
    AccessLog log;
    Tree tree((LoggedMemory(&log)));
    std::multiset<int> sorted;
    for (const auto& [node, key] : keys_) sorted.insert(key);
    auto expected = sorted.begin();
    TreeNode* at = ours_[0].left;
    const LibraryNode* other = theirs_[0]._M_left;
    for (; at != &ours_[0]; at = tree.Next(at), other = std::_Rb_tree_increment(other)) {
      ASSERT_EQ(Number(at), Number(other));
      ASSERT_NE(expected, sorted.end());
      ASSERT_EQ(keys_.at(Number(at)), *expected++);
    }
    ASSERT_EQ(expected, sorted.end());
    ASSERT_EQ(Number(other), 0);
    for (; at != ours_[0].left; at = tree.Previous(at), other = std::_Rb_tree_decrement(other)) {
      ASSERT_EQ(Number(at), Number(other));
    }
    ASSERT_EQ(other, theirs_[0]._M_left);
    ASSERT_TRUE(log.stores.empty());
  }

  std::vector<TreeNode> ours_;
  std::vector<LibraryNode> theirs_;
  std::map<int, int> keys_;  // of the nodes that are in the trees
};

class RandomTrees : public Trees, public testing::WithParamInterface<uint64_t> {};

TEST_P(RandomTrees, AreTheSame) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  std::mt19937_64 random(GetParam());
  // Some seeds make trees of a few nodes, some only let them grow and shrink.
  const int nodes = 1 + static_cast<int>(random() % kNodes);
  const int key_range = 1 + static_cast<int>(random() % 300);
  uint64_t chance_to_erase = 1 + random() % 9;
  for (int step = 0; step < 400; ++step) {
    if (random() % 100 == 0) chance_to_erase = 1 + random() % 9;
    const int node = 1 + static_cast<int>(random() % static_cast<uint64_t>(nodes));
    if (!keys_.contains(node)) {
      Insert(node, static_cast<int>(random() % static_cast<uint64_t>(key_range)));
    } else if (random() % 10 < chance_to_erase) {
      Erase(node);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameTrees()) << "step " << step;
    if (step % 20 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalks()) << "step " << step;
  }
  while (!keys_.empty()) {
    Erase(keys_.begin()->first);
    ASSERT_NO_FATAL_FAILURE(ExpectSameTrees());
  }
  ASSERT_NO_FATAL_FAILURE(ExpectSameWalks());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrees, testing::Range<uint64_t>(1, 201));

// Keys in ascending order, the commonest of all: every insertion is at the end.
TEST_F(Trees, AscendingKeys) {
  for (int i = 1; i <= kNodes; ++i) Insert(i, i);
  ExpectSameTrees();
  ExpectSameWalks();
}

// What a reader can meet on its way is what the rebalancing writes: who only looks at the leftmost
// node of a large tree is left alone by an insertion far to the right, but for the header.
TEST_F(Trees, InsertionTouchesNoMoreThanItsWayUp) {
  for (int i = 1; i < kNodes; ++i) Insert(i, i);
  const auto [parent, left] = PlaceFor(kNodes);
  AccessLog log;
  Tree(LoggedMemory(&log)).Insert(left, &ours_[kNodes], &ours_[parent], ours_[0]);
  const TreeNode* const first = ours_[0].left;
  EXPECT_FALSE(log.stores.contains(&first->colour));
  EXPECT_FALSE(log.stores.contains(&first->parent));
  EXPECT_FALSE(log.stores.contains(&first->left));
  EXPECT_FALSE(log.stores.contains(&first->right));
  EXPECT_TRUE(log.stores.contains(&ours_[0].right));
  EXPECT_LT(log.stores.size(), 40u);
}

}  // namespace
}  // namespace mc::sched
