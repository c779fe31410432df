import KithDocument

/// The text of `kith members`: a node a line, those whose membership has ended last.
struct MembersRenderer {
    let members: JSONValue
    let width: Int?
    let colour: Bool

    init(_ members: JSONValue, width: Int?, colour: Bool) {
        self.members = members
        self.width = width
        self.colour = colour
    }

    func lines() -> [String] {
        let all = members["members"]?.array ?? []
        var table = TextTable([
            .init(title: "NODE", least: 12), .init(title: "ID", leftOut: 2), .init(title: "ROLE"),
            .init(title: "LET IN BY", least: 8, leftOut: 1),
            .init(title: "STATE", least: 10),
        ])
        let (ended, living) = (all.filter { $0["revoked"]?.bool == true }, all.filter { $0["revoked"]?.bool != true })
        for member in living + ended {
            let isRevoked = member["revoked"]?.bool == true
            table.add([
                .init(text: member["name"]?.string ?? "?"), .init(text: StatusRenderer.short(member["id"]?.string)),
                .init(text: member["role"]?.string ?? "?"), .init(text: letInBy(member, all)),
                .init(text: state(member, all), style: isRevoked ? .bad : .plain),
            ])
        }
        let admins = living.filter { $0["role"]?.string == "admin" }.count
        return table.lines(width: width, colour: colour) + [
            "\(Wording.plural(UInt64(living.count), "member", "members")) known, "
                + Wording.plural(UInt64(admins), "admin", "admins")
        ]
    }

    private func letInBy(_ member: JSONValue, _ all: [JSONValue]) -> String {
        guard let admin = member["admitted_by"]?.string else { return "?" }
        return admin == member["id"]?.string ? "the root" : name(admin, all)
    }

    private func state(_ member: JSONValue, _ all: [JSONValue]) -> String {
        if let by = member["revoked_by"]?.string { return "revoked by \(by == "root" ? "the root" : name(by, all))" }
        if member["self"]?.bool == true { return "this node" }
        return member["connected"]?.bool == true ? "connected" : "not connected"
    }

    private func name(_ id: String, _ all: [JSONValue]) -> String {
        all.first { $0["id"]?.string == id }?["name"]?.string ?? StatusRenderer.short(id)
    }
}
