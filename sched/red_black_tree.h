// RedBlackTree: the trees of std::map and std::set, changed and walked access by access.
//
// libstdc++ keeps these functions in its library, where their accesses to memory are not seen. They
// are done here instead, by the textbook (Cormen, Leiserson, Rivest, Stein: Introduction to
// Algorithms, 3rd edition, chapter 13), on nodes laid out as libstdc++'s. `Memory` makes every
// access: `Load(place)` and `Store(place, value)`.
//
// Differences from the textbook:
//  * A leaf is a null pointer, so the position that is being repaired is a node, which may be null,
//    together with its parent.
//  * The header is the parent of the root: its `parent` is the root, its `left` and `right` are the
//    first and the last node (the header itself if the tree is empty), and it is red. So it is
//    found as "the node after the last one".
#ifndef MC_SCHED_RED_BLACK_TREE_H_
#define MC_SCHED_RED_BLACK_TREE_H_

#include <utility>

namespace mc::sched {

enum class TreeColour : int { kRed = 0, kBlack = 1 };

// As std::_Rb_tree_node_base.
struct TreeNode {
  TreeColour colour;
  TreeNode* parent;
  TreeNode* left;
  TreeNode* right;
};

template <typename Memory>
class RedBlackTree {
 public:
  explicit RedBlackTree(Memory memory) : memory_(memory) {}

  // The node after `node`, the header after the last one. After the header: undefined.
  TreeNode* Next(TreeNode* node);
  // The node before `node`; before the header, the last one. Before the first one: undefined.
  TreeNode* Previous(TreeNode* node);

  // Makes `node` the left (right) child of `parent`, where there is none, and restores the
  // invariants. `parent` is the header if the tree is empty, with `left` true.
  void Insert(bool left, TreeNode* node, TreeNode* parent, TreeNode& header);
  // Takes `node` out of the tree.
  void Erase(TreeNode* node, TreeNode& header);

 private:
  using Side = TreeNode* TreeNode::*;
  static constexpr Side kLeft = &TreeNode::left, kRight = &TreeNode::right;
  static Side Other(Side side) { return side == kLeft ? kRight : kLeft; }

  template <typename T>
  T Load(const T& place) {
    return memory_.Load(place);
  }
  template <typename T>
  void Store(T& place, std::type_identity_t<T> value) {
    memory_.Store(place, value);
  }
  bool IsRed(const TreeNode* node) {
    return node != nullptr && Load(node->colour) == TreeColour::kRed;
  }
  // The last node in this direction below `node`.
  TreeNode* Outermost(TreeNode* node, Side side) {
    while (TreeNode* next = Load(node->*side)) node = next;
    return node;
  }

  void Replace(const TreeNode* node, TreeNode* by, TreeNode* parent, TreeNode& header);
  void Rotate(TreeNode* node, Side side, TreeNode& header);
  void RepairAfterInsert(TreeNode* node, TreeNode& header);
  void RepairAfterErase(TreeNode* node, TreeNode* parent, TreeNode& header);

  Memory memory_;
};

template <typename Memory>
TreeNode* RedBlackTree<Memory>::Next(TreeNode* node) {
  if (TreeNode* below = Load(node->right)) return Outermost(below, kLeft);
  TreeNode* above = Load(node->parent);
  while (node == Load(above->right)) {
    node = above;
    above = Load(above->parent);
  }
  // From the root, if that is the last node, the loop goes once too far: the header's parent is
  // the root again.
  return Load(node->right) == above ? node : above;
}

template <typename Memory>
TreeNode* RedBlackTree<Memory>::Previous(TreeNode* node) {
  // The header is red and its own grandparent, which the root, being black, is not.
  if (IsRed(node)) {
    TreeNode* const parent = Load(node->parent);
    if (Load(parent->parent) == node) return Load(node->right);
  }
  if (TreeNode* below = Load(node->left)) return Outermost(below, kRight);
  TreeNode* above = Load(node->parent);
  while (node == Load(above->left)) {
    node = above;
    above = Load(above->parent);
  }
  return above;
}

// `by`, which may be null, becomes the child of `parent` that `node` was.
template <typename Memory>
void RedBlackTree<Memory>::Replace(const TreeNode* node, TreeNode* by, TreeNode* parent,
                                   TreeNode& header) {
  if (Load(header.parent) == node) {
    Store(header.parent, by);
  } else {
    const Side side = Load(parent->left) == node ? kLeft : kRight;
    Store(parent->*side, by);
  }
}

// `node` goes down on this side, its child on the other side comes up in its place.
template <typename Memory>
void RedBlackTree<Memory>::Rotate(TreeNode* node, Side side, TreeNode& header) {
  const Side other = Other(side);
  TreeNode* const child = Load(node->*other);
  TreeNode* const middle = Load(child->*side);
  Store(node->*other, middle);
  if (middle != nullptr) Store(middle->parent, node);
  TreeNode* const parent = Load(node->parent);
  Store(child->parent, parent);
  Replace(node, child, parent, header);
  Store(child->*side, node);
  Store(node->parent, child);
}

template <typename Memory>
void RedBlackTree<Memory>::Insert(bool left, TreeNode* node, TreeNode* parent, TreeNode& header) {
  Store(node->parent, parent);
  Store(node->left, nullptr);
  Store(node->right, nullptr);
  Store(node->colour, TreeColour::kRed);
  const Side side = left ? kLeft : kRight;
  if (parent == &header) {
    Store(header.parent, node);
    Store(header.left, node);
    Store(header.right, node);
  } else {
    Store(parent->*side, node);
    if (Load(header.*side) == parent) Store(header.*side, node);  // the new first or last one
  }
  RepairAfterInsert(node, header);
}

// `node` is red, and so may be its parent.
template <typename Memory>
void RedBlackTree<Memory>::RepairAfterInsert(TreeNode* node, TreeNode& header) {
  while (node != Load(header.parent)) {
    TreeNode* parent = Load(node->parent);
    if (!IsRed(parent)) break;
    TreeNode* const above = Load(parent->parent);  // is there: a red node is not the root
    const Side side = parent == Load(above->left) ? kLeft : kRight;
    TreeNode* const uncle = Load(above->*Other(side));
    if (IsRed(uncle)) {
      Store(parent->colour, TreeColour::kBlack);
      Store(uncle->colour, TreeColour::kBlack);
      Store(above->colour, TreeColour::kRed);
      node = above;
      continue;
    }
    if (node == Load(parent->*Other(side))) {
      Rotate(parent, side, header);
      std::swap(node, parent);
    }
    Store(parent->colour, TreeColour::kBlack);
    Store(above->colour, TreeColour::kRed);
    Rotate(above, Other(side), header);
  }
  Store(Load(header.parent)->colour, TreeColour::kBlack);
}

template <typename Memory>
void RedBlackTree<Memory>::Erase(TreeNode* node, TreeNode& header) {
  TreeNode* const left = Load(node->left);
  TreeNode* const right = Load(node->right);
  TreeNode* const parent = Load(node->parent);
  TreeColour lost = Load(node->colour);  // which is now missing on one way down
  TreeNode* child;                       // the root of the subtree that misses it, or null
  TreeNode* child_parent;
  if (left == nullptr || right == nullptr) {
    child = left != nullptr ? left : right;
    child_parent = parent;
    if (child != nullptr) Store(child->parent, parent);
    Replace(node, child, parent, header);
    if (Load(header.left) == node) {
      Store(header.left, right == nullptr ? parent : Outermost(right, kLeft));
    }
    if (Load(header.right) == node) {
      Store(header.right, left == nullptr ? parent : Outermost(left, kRight));
    }
  } else {
    TreeNode* const next = Outermost(right, kLeft);  // takes the place of `node`
    lost = Load(next->colour);
    child = Load(next->right);
    child_parent = next;
    if (next != right) {
      child_parent = Load(next->parent);
      if (child != nullptr) Store(child->parent, child_parent);
      Store(child_parent->left, child);
      Store(next->right, right);
      Store(right->parent, next);
    }
    Replace(node, next, parent, header);
    Store(next->parent, parent);
    Store(next->left, left);
    Store(left->parent, next);
    Store(next->colour, Load(node->colour));
  }
  if (lost == TreeColour::kBlack) RepairAfterErase(child, child_parent, header);
}

// Every way down through `node` (which may be null), a child of `parent`, has one black node too
// few.
template <typename Memory>
void RedBlackTree<Memory>::RepairAfterErase(TreeNode* node, TreeNode* parent, TreeNode& header) {
  while (node != Load(header.parent) && !IsRed(node)) {
    const Side side = node == Load(parent->left) ? kLeft : kRight;
    const Side other = Other(side);
    TreeNode* sibling = Load(parent->*other);
    if (IsRed(sibling)) {
      Store(sibling->colour, TreeColour::kBlack);
      Store(parent->colour, TreeColour::kRed);
      Rotate(parent, side, header);
      sibling = Load(parent->*other);
    }
    TreeNode* const near = Load(sibling->*side);
    const bool far_is_red = IsRed(Load(sibling->*other));
    if (!far_is_red && !IsRed(near)) {
      Store(sibling->colour, TreeColour::kRed);
      node = parent;
      parent = Load(parent->parent);
      continue;
    }
    if (!far_is_red) {
      Store(near->colour, TreeColour::kBlack);
      Store(sibling->colour, TreeColour::kRed);
      Rotate(sibling, other, header);
      sibling = near;
    }
    Store(sibling->colour, Load(parent->colour));
    Store(parent->colour, TreeColour::kBlack);
    Store(Load(sibling->*other)->colour, TreeColour::kBlack);
    Rotate(parent, side, header);
    break;
  }
  if (node != nullptr) Store(node->colour, TreeColour::kBlack);
}

}  // namespace mc::sched

#endif  // MC_SCHED_RED_BLACK_TREE_H_
