import Foundation
import Kith

struct Note: Codable {
    var title: String
    var text: String?
}

func run(in folder: URL) async throws {
    let database = try Database("notes", in: folder)

    try await database.save(Note(title: "Milk"), id: "milk")
    try await database.update("milk") { $0["done"] = true }
    let note = try await database.document("milk", as: Note.self)

    try await database.write { batch in  // all of it, or nothing
        try batch.save(Document(id: "bread", ["title": "Bread"]))
        try batch.delete("milk")
    }
    database.close()

    // The same folder as a node of a group: others join by the code.
    try LocalNode.makeGroup("home", in: folder, as: "den")
    let node = try LocalNode(in: folder)
    try await node.start()
    let code = try await node.invite().code
    let shared = try await node.database("notes")
    print(note?.title ?? "", try shared.summary().documents, code.isEmpty)
    await node.stop()
}
