/// Some of the nodes of a plan, in ascending order, as text `0-3,7`.
package struct NodeList: Hashable, Sendable, CustomStringConvertible {
    package private(set) var members: [Int]

    package init(_ members: [Int] = []) {
        self.members = []
        for member in members.sorted() where self.members.last != member { self.members.append(member) }
    }

    /// Nil for what is no such text, names a machine that no plan can have, or has a range that ends before it begins.
    package init?(text: String) {
        var members: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            guard first >= 0, first <= last, SimulationLimits.machineNumbers.contains(last) else { return nil }
            members.append(contentsOf: first...last)
        }
        self.init(members)
    }

    package var isEmpty: Bool { members.isEmpty }
    package func contains(_ node: Int) -> Bool { members.contains(node) }

    /// The list without one node, and with those above it renumbered.
    package func removing(_ node: Int) -> NodeList {
        NodeList(members.filter { $0 != node }.map { $0 > node ? $0 - 1 : $0 })
    }

    package var description: String {
        var parts: [String] = []
        var index = 0
        while index < members.count {
            var last = index
            while last + 1 < members.count, members[last + 1] == members[last] + 1 { last += 1 }
            parts.append(last == index ? "\(members[index])" : "\(members[index])-\(members[last])")
            index = last + 1
        }
        return parts.joined(separator: ",")
    }
}
