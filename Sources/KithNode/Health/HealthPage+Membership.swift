extension HealthPage {
    static let identityDuplicate = HealthPage(
        meaning: ["Two nodes run with one identity, as after copying a machine."],
        actions: ["Stop the copy, remove its identity by kith leave, and join it anew."])
}
