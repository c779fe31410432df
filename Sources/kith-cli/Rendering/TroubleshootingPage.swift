import KithNode

/// docs/troubleshooting.md: the table of health checks as a page. Pure, so that a test can compare it with the file.
enum TroubleshootingPage {
    /// The lines of the file.
    static func lines() -> [String] {
        var lines = introduction
        lines += ["| check | what is wrong |", "|---|---|"]
        lines += HealthCode.allCases.map { code in
            "| [`\(code.rawValue)`](#\(anchor(code))) | \(firstSentence(of: code.page)) |"
        }
        for code in HealthCode.allCases { lines += [""] + section(code) }
        return lines
    }

    private static let introduction = [
        "# Troubleshooting", "",
        "`kith status` shows first what is wrong: a check with its code, since when it holds, and the first thing to do. The "
            + "same is in `kith check` for monitoring, and each check's page is printed by `kith help CODE`. This file is "
            + "made of the same table.",
        "",
        "What passes by itself within seconds is no check: a peer that is away, one that catches up, a dial that failed. "
            + "`kith help states` tells what the states of a peer mean.", "",
    ]

    private static func section(_ code: HealthCode) -> [String] {
        let page = code.page
        var lines = ["## \(code.rawValue)", ""]
        lines += Array(page.meaning.map { [$0] }.joined(separator: [""]))
        if !page.shows.isEmpty { lines += ["", "It shows:", ""] + page.shows.map { "- \($0)" } }
        lines += ["", "What to do:", ""] + page.actions.enumerated().map { "\($0 + 1). \($1)" }
        return lines + ["", "It goes away \(page.ends.prefix(1).lowercased())\(page.ends.dropFirst())"]
    }

    /// As the renderers of Markdown make one of a heading.
    private static func anchor(_ code: HealthCode) -> String { code.rawValue.lowercased() }

    private static func firstSentence(of page: HealthPage) -> String {
        let text = page.meaning.first ?? ""
        guard let end = text.firstRange(of: ". ") ?? text.firstRange(of: ": ") else { return text }
        return text[..<end.lowerBound] + "."
    }
}
