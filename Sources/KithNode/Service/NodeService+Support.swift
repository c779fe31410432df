import KithDocument
import KithHTTPCore
import KithStore

extension NodeService {
    func supportReport() async throws(ControlError) -> [UInt8] {
        var report = SupportReport()
        report.add("versions of the node", SupportReport.versions)
        report.add("status", json: try await status().json)
        report.add("mesh", json: try await mesh().json)
        report.add("members", json: try await members().json)
        var lines: [[UInt8]] = []
        for database in node.catalog.databases {
            do throws(StoreError) {
                var read = try await database.read(isLong: true) { reader throws(StoreError) in
                    try DatabaseReport.read(database.name, reader)
                }
                read.plans = database.planCounts
                lines.append(read.json)
            } catch { lines.append(DatabaseReport.json(database.name, error)) }
        }
        for entry in node.catalog.unusable { lines.append(DatabaseReport.json(entry.file.name, entry.error)) }
        report.add("databases", lines: Array(lines.joined(separator: [UInt8(ascii: "\n")])))
        report.add("metrics", lines: try await metrics().text)
        report.add("log, the last lines", lines: node.log.recent)
        return Array(report.text.utf8)
    }
}

extension NodeService {
    func refusedDocuments(in name: String) async throws(ControlError) -> ControlStream {
        let refused = try await reading(name) { reader throws(StoreError) in try reader.refusals() }
        return ControlStream { writer in
            for page in stride(from: 0, to: refused.count, by: NodeLimits.pageDocuments) {
                let lines = refused[page..<min(refused.count, page + NodeLimits.pageDocuments)].map { refusal in
                    var object = JSONObjectWriter()
                    object.add("id", refusal.document.string)
                    object.add("tag", DocumentTag.of(refusal.document))
                    object.add("reason", refusal.reason)
                    return object.bytes + [UInt8(ascii: "\n")]
                }
                try await writer.write(lines.flatMap(\.self))
            }
        }
    }
}
