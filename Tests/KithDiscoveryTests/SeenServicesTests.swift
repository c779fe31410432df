import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct SeenServicesTests {
    private let alpha = InstanceName("alpha")

    @Test func theFirstOfTwoRemovalsIsNotTheEnd() {
        let seen = Seen()
        // Once for IPv4 and once for IPv6, which Avahi does not tell apart.
        #expect(seen.added(alpha, interface: 2))
        #expect(!seen.added(alpha, interface: 2))
        #expect(!seen.removed(alpha, interface: 2))
        #expect(seen.isPresent(alpha))
        #expect(seen.removed(alpha, interface: 2))
        #expect(!seen.isPresent(alpha))
    }

    @Test func aServiceIsPresentWhileAnyInterfaceHasIt() {
        let seen = Seen()
        for interface: UInt32 in [3, 1, 2] { _ = seen.added(alpha, interface: interface) }
        #expect(seen.interfaces(of: alpha) == [1, 2, 3])
        _ = seen.removed(alpha, interface: 1)
        _ = seen.removed(alpha, interface: 2)
        #expect(seen.isPresent(alpha))
        _ = seen.removed(alpha, interface: 3)
        #expect(!seen.isPresent(alpha))
    }

    @Test func aRemovedServiceStaysAsAHintAndCanReturn() {
        let seen = Seen()
        _ = seen.added(alpha, interface: 2)
        _ = seen.removed(alpha, interface: 2)
        #expect(seen.names == [alpha])
        #expect(seen.added(alpha, interface: 2))
        #expect(seen.isPresent(alpha))
    }

    @Test func aRemovalOfWhatWasNeverThereChangesNothing() {
        let seen = Seen()
        #expect(!seen.removed(alpha, interface: 2))
        #expect(seen.names.isEmpty)
        _ = seen.added(alpha, interface: 2)
        #expect(!seen.removed(alpha, interface: 5))
        #expect(seen.isPresent(alpha))
    }

    @Test func startingOverMakesAllStaleAndForgetsNone() {
        let seen = Seen()
        _ = seen.added(alpha, interface: 2)
        _ = seen.added(alpha, interface: 2)
        seen.startOver()
        #expect(!seen.isPresent(alpha))
        #expect(seen.names == [alpha])
        // The counts begin anew: one addition and one removal now cancel out.
        _ = seen.added(alpha, interface: 2)
        _ = seen.removed(alpha, interface: 2)
        #expect(!seen.isPresent(alpha))
    }

    @Test func namesAreComparedByTheirBytes() {
        let seen = Seen()
        _ = seen.added(InstanceName("\u{e9}"), interface: 2)
        _ = seen.added(InstanceName("e\u{301}"), interface: 2)
        #expect(seen.names.count == 2)
    }

    @Test func aFloodOfNamesIsBoundedAndTheStaleMakeRoom() {
        let seen = Seen()
        for number in 0..<(Limits.services + 50) { _ = seen.added(InstanceName("n\(number)"), interface: 2) }
        #expect(seen.names.count == Limits.services)
        #expect(seen.refused == 50)
        _ = seen.removed(InstanceName("n7"), interface: 2)
        let isAdded = seen.added(InstanceName("late"), interface: 2)
        #expect(isAdded)
        #expect(!seen.names.contains(InstanceName("n7")))
        for interface in 0..<UInt32(Limits.interfacesPerService + 9) {
            _ = seen.added(InstanceName("late"), interface: interface)
        }
        #expect(seen.interfaces(of: InstanceName("late")).count == Limits.interfacesPerService)
    }

    @Test func theOldestHintsGoFirst() {
        let seen = Seen()
        for number in 0..<(Limits.staleServices + 10) {
            _ = seen.added(InstanceName("n\(number)"), interface: 2)
            _ = seen.removed(InstanceName("n\(number)"), interface: 2)
        }
        #expect(seen.names.count == Limits.staleServices)
        #expect(!seen.names.contains(InstanceName("n0")))
        #expect(seen.names.contains(InstanceName("n\(Limits.staleServices + 9)")))
    }

    @Test func presenceIsAdditionsLessRemovalsInEveryOrder() {
        var random = SeededGenerator(seed: 0x5ee)
        for _ in 0..<500 {
            let seen = Seen()
            var model: [UInt32: Int] = [:]
            for _ in 0..<40 {
                let interface = UInt32(random.below(3))
                if random.chance(1, in: 2) {
                    _ = seen.added(alpha, interface: interface)
                    model[interface, default: 0] += 1
                } else {
                    _ = seen.removed(alpha, interface: interface)
                    model[interface] = max(0, model[interface, default: 0] - 1)
                }
                #expect(seen.interfaces(of: alpha) == model.filter { $0.value > 0 }.keys.sorted())
            }
        }
    }
}

/// `SeenServices` by reference: a macro can't change a value.
private final class Seen {
    private var value = SeenServices()

    func added(_ name: InstanceName, interface: UInt32) -> Bool { value.added(name, interface: interface) }
    func removed(_ name: InstanceName, interface: UInt32) -> Bool { value.removed(name, interface: interface) }
    func startOver() { value.startOver() }
    func isPresent(_ name: InstanceName) -> Bool { value.isPresent(name) }
    func interfaces(of name: InstanceName) -> [UInt32] { value.interfaces(of: name) }
    var names: [InstanceName] { value.names }
    var refused: Int { value.refused }
}
