extension HealthPage {
    static let conflicts = HealthPage(
        meaning: ["Documents have more than one live revision, and the database's policy leaves it to you."],
        actions: ["kith conflicts DB lists them, kith history DB ID shows one, kith resolve DB ID --keep REV ends it."])

    static let documentsRefused = HealthPage(
        meaning: [
            "Documents of a peer were not taken because they break a rule: a wrong hash, a size or a depth over the limit. "
                + "The others are not held up."
        ],
        actions: ["Read the reason in the log, and mend the documents where they were written."])
}
