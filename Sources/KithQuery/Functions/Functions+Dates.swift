import KithDocument

extension QueryFunction {
    private static func date(
        _ name: String, aliases: [String] = [], _ parameters: String, _ summary: String, _ example: String,
        _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(name, aliases: aliases, parameters, summary, example, result, in: .date, body)
    }

    static let dates: [QueryFunction] = [
        date(
            "NOW_MILLIS", aliases: ["CLOCK_MILLIS"], "",
            "The time of the query in milliseconds since 1970, one for all rows.", "NOW_MILLIS() > 0", "TRUE"
        ) {
            .number($0.context.now)
        },
        date(
            "NOW_STR", aliases: ["NOW_UTC", "CLOCK_STR", "CLOCK_UTC"], "[format]", "The same as a date in UTC.",
            "ISSTRING(NOW_STR())", "TRUE"
        ) {
            $0.text($0.context.now, offset: 0, form: 0)
        },
        date(
            "NOW_LOCAL", aliases: ["CLOCK_LOCAL"], "[format]", "The same as a date at this machine's offset.",
            "ISSTRING(NOW_LOCAL())", "TRUE"
        ) {
            $0.text($0.context.now, offset: $0.context.offset, form: 0)
        },
        date(
            "NOW_TZ", aliases: ["CLOCK_TZ"], "offset[, format]", "The same as a date at an offset from UTC.",
            "ISSTRING(NOW_TZ('+02:00'))", "TRUE"
        ) {
            arguments in
            guard let offset = arguments.offset(0) else { return .null }
            return arguments.text(arguments.context.now, offset: offset, form: 1)
        },
        date(
            "STR_TO_MILLIS", aliases: ["MILLIS"], "date", "The date in milliseconds since 1970.",
            "STR_TO_MILLIS('2026-11-30T16:54:32.5+02:00')", "1796050472500"
        ) { arguments in .number(orNull: arguments.date(0)?.milliseconds) },
        date(
            "STR_TO_UTC", "date", "The date in UTC, in the form that it has.",
            "STR_TO_UTC('2026-11-30T16:54:32+02:00')", "'2026-11-30T14:54:32Z'"
        ) {
            arguments in
            guard let date = arguments.date(0) else { return .null }
            return .string(orNull: DateText.text(date.milliseconds, form: date.form))
        },
        date(
            "STR_TO_TZ", "date, offset", "The date at an offset from UTC, in the form that it has.",
            "STR_TO_TZ('2026-11-30T16:54:32Z', '-05:30')", "'2026-11-30T11:24:32-05:30'"
        ) { arguments in
            guard let date = arguments.date(0), let offset = arguments.offset(1) else { return .null }
            return .string(orNull: DateText.text(date.milliseconds, offset: offset, form: date.form))
        },
        date(
            "MILLIS_TO_STR", aliases: ["MILLIS_TO_UTC"], "millis[, format]",
            "The date of milliseconds since 1970, in UTC.",
            "MILLIS_TO_STR(1796057672500)", "'2026-11-30T16:54:32.500Z'"
        ) { arguments in
            guard let time = arguments.time(0) else { return .null }
            return arguments.text(time, offset: 0, form: 1)
        },
        date(
            "MILLIS_TO_LOCAL", "millis[, format]", "The same at this machine's offset.",
            "STR_TO_MILLIS(MILLIS_TO_LOCAL(1796057672500))", "1796057672500"
        ) { arguments in
            guard let time = arguments.time(0) else { return .null }
            return arguments.text(time, offset: arguments.context.offset, form: 1)
        },
        date(
            "MILLIS_TO_TZ", "millis, offset[, format]", "The same at an offset from UTC.",
            "MILLIS_TO_TZ(1796057672500, 60, 'YYYY-MM-DD hh:mm')", "'2026-11-30 17:54'"
        ) { arguments in
            guard let time = arguments.time(0), let offset = arguments.offset(1) else { return .null }
            return arguments.text(time, offset: offset, form: 2)
        },
        date(
            "DATE_FORMAT_STR", "date, format", "The date in another form.",
            "DATE_FORMAT_STR('2026-11-30T16:54:32Z', '1111-11-11')", "'2026-11-30'"
        ) { arguments in
            guard let date = arguments.date(0) else { return .null }
            return arguments.text(date.milliseconds, offset: date.offset, form: 1)
        },
    ]

    static let dateParts: [QueryFunction] = [
        date(
            "DATE_ADD_MILLIS", "millis, count, part", "The time so many parts later.",
            "DATE_ADD_MILLIS(0, 2, 'day')", "172800000"
        ) { arguments in
            guard let time = arguments.time(0), let count = arguments.number(1)?.integer, let part = arguments.part(2)
            else {
                return .null
            }
            return .number(orNull: part.add(count, to: time))
        },
        date(
            "DATE_ADD_STR", "date, count, part", "The date so many parts later, in the form that it has.",
            "DATE_ADD_STR('2026-01-31', 1, 'month')", "'2026-02-28'"
        ) { arguments in
            guard let count = arguments.number(1)?.integer, let part = arguments.part(2) else { return .null }
            return arguments.changed { part.add(count, to: $0) }
        },
        date(
            "DATE_DIFF_MILLIS", "millis, millis, part", "The whole parts from the second time to the first.",
            "DATE_DIFF_MILLIS(172800000, 0, 'day')", "2"
        ) { arguments in
            guard let one = arguments.time(0), let other = arguments.time(1), let part = arguments.part(2) else {
                return .null
            }
            return .number(orNull: part.difference(one, other))
        },
        date(
            "DATE_DIFF_STR", "date, date, part", "The whole parts from the second date to the first.",
            "DATE_DIFF_STR('2026-11-30', '2026-12-25', 'day')", "-25"
        ) { arguments in
            guard let one = arguments.date(0), let other = arguments.date(1), let part = arguments.part(2) else {
                return .null
            }
            return .number(orNull: part.difference(one.milliseconds, other.milliseconds))
        },
        date(
            "DATE_PART_MILLIS", "millis, part[, offset]", "A part of the date, in UTC or at an offset.",
            "DATE_PART_MILLIS(1796057672500, 'hour', '+02:00')", "18"
        ) {
            arguments in
            let offset = arguments.has(2) ? arguments.offset(2) : 0
            guard let time = arguments.time(0), let part = arguments.string(1), let offset else { return .null }
            return .number(
                orNull: DatePart.value(part, of: time + Int64(offset) * 60_000, offset: offset).map { Int64($0) })
        },
        date(
            "DATE_PART_STR", "date, part", "A part of the date, at the date's own offset.",
            "DATE_PART_STR('2026-11-30T16:54:32Z', 'iso_week')", "49"
        ) {
            arguments in
            guard let date = arguments.date(0), let part = arguments.string(1) else { return .null }
            let local = date.milliseconds + Int64(date.offset) * 60_000
            return .number(orNull: DatePart.value(part, of: local, offset: date.offset).map { Int64($0) })
        },
        date(
            "DATE_TRUNC_MILLIS", "millis, part",
            "The beginning of the part of the calendar that the time is in, in UTC.",
            "DATE_TRUNC_MILLIS(1796057672500, 'day')", "1795996800000"
        ) {
            arguments in
            guard let time = arguments.time(0), let part = arguments.part(1) else { return .null }
            return .number(orNull: part.truncate(time))
        },
        date(
            "DATE_TRUNC_STR", "date, part", "The same of a date, at its own offset and in the form that it has.",
            "DATE_TRUNC_STR('2026-11-30T16:54:32Z', 'month')", "'2026-11-01T00:00:00Z'"
        ) {
            arguments in
            guard let date = arguments.date(0), let part = arguments.part(1) else { return .null }
            let offset = Int64(date.offset) * 60_000
            return arguments.changed { part.truncate($0 + offset).map { $0 - offset } }
        },
        date(
            "WEEKDAY_MILLIS", "millis[, offset]", "The English name of the day of the week.", "WEEKDAY_MILLIS(0)",
            "'Thursday'"
        ) {
            arguments in
            let offset = arguments.has(1) ? arguments.offset(1) : 0
            guard let time = arguments.time(0), let offset else { return .null }
            let day = DatePart.value("dow", of: time + Int64(offset) * 60_000, offset: offset)
            return .string(orNull: day.map { DatePart.weekdays[$0] })
        },
        date("WEEKDAY_STR", "date", "The same of a date.", "WEEKDAY_STR('2026-11-30')", "'Monday'") { arguments in
            guard let date = arguments.date(0) else { return .null }
            let day = DatePart.value("dow", of: date.milliseconds + Int64(date.offset) * 60_000, offset: 0)
            return .string(orNull: day.map { DatePart.weekdays[$0] })
        },
    ]

    static let dateTexts: [QueryFunction] = [
        date(
            "DATE_RANGE_MILLIS", "millis, millis, part[, step]",
            "The times from the first one on in steps of the part, without the second one.",
            "DATE_RANGE_MILLIS(0, 172800000, 'day')", "[0, 86400000]"
        ) {
            arguments throws(QueryError) in
            guard let start = arguments.time(0), let end = arguments.time(1) else { return .null }
            return try arguments.times(from: start, to: end).map { .array($0.map { .number($0) }) } ?? .null
        },
        date(
            "DATE_RANGE_STR", "date, date, part[, step]", "The same of dates, in the form that the first one has.",
            "DATE_RANGE_STR('2026-01-31', '2026-05-01', 'month')",
            "['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']"
        ) {
            arguments throws(QueryError) in
            guard let start = arguments.date(0), let end = arguments.date(1) else { return .null }
            guard let times = try arguments.times(from: start.milliseconds, to: end.milliseconds) else { return .null }
            let texts = times.compactMap { DateText.text($0, offset: start.offset, form: start.form) }
            return .array(texts.map { .string($0) })
        },
    ]
}

extension FunctionArguments {
    /// An offset from UTC in minutes: a number of them, or a text such as `+02:00`.
    fileprivate func offset(_ index: Int) -> Int? {
        if let minutes = count(index) { return (-1439...1439).contains(minutes) ? minutes : nil }
        return string(index).flatMap { DateText.offset($0) }
    }

    /// A time as text, in the form that an argument names, if there is one.
    fileprivate func text(_ time: Int64, offset: Int, form index: Int) -> QueryValue {
        var form: DateText.Form? = .standard
        if has(index) { form = string(index).flatMap { DateText.form($0) } }
        guard let form else { return .null }
        return .string(orNull: DateText.text(time, offset: offset, form: form))
    }

    /// The date of the first argument, changed, in the form that it has.
    fileprivate func changed(_ change: (Int64) -> Int64?) -> QueryValue {
        guard let date = date(0), let time = change(date.milliseconds) else { return .null }
        return .string(orNull: DateText.text(time, offset: date.offset, form: date.form))
    }

    /// From a time on, in steps of the part of the third argument. Each is reckoned from the first one, so that the 31st
    /// stays the 31st.
    fileprivate func times(from start: Int64, to end: Int64) throws(QueryError) -> [Int64]? {
        let step = has(3) ? number(3)?.integer : 1
        guard let part = part(2), let step, step != 0 else { return nil }
        var times: [Int64] = []
        var (next, count) = (start, Int64(0))
        while step > 0 ? next < end : next > end {
            guard times.count < QueryLimits.madeElements else { throw QueryValue.tooManyElements }
            times.append(next)
            count += 1
            let (distance, overflow) = step.multipliedReportingOverflow(by: count)
            guard !overflow, let time = part.add(distance, to: start) else { break }
            next = time
        }
        return times
    }
}
