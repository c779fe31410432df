import Glibc

// The standard library mends what is not UTF-8, and a mended id would be another document's.
var words: [String] = []
for (index, word) in ProgramArguments.words.enumerated() {
    guard let text = String(validating: word, as: UTF8.self) else {
        Messages.line(
            "kith: argument \(index + 1) is not valid UTF-8; give such bytes escaped, as JSON or a URL has them")
        exit(ExitStatus.usage)
    }
    words.append(text)
}
exit(await KithCommand.run(words))
