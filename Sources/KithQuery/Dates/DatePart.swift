import KithDocument

/// A part of a date by its name, and what is done by it.
enum DatePart: String, CaseIterable {
    case millisecond, second, minute, hour, day, week, month, quarter, year, decade, century, millennium

    /// In lower case or upper case, also in the plural.
    init?(_ name: String) {
        var name = name.lowercased()
        if name == "centuries" { name = "century" }
        if name == "millenniums" || name == "millennia" { name = "millennium" }
        if let part = DatePart(rawValue: name) {
            self = part
        } else if name.hasSuffix("s"), let part = DatePart(rawValue: String(name.dropLast())) {
            self = part
        } else {
            return nil
        }
    }

    /// Nil for those whose length hangs on the calendar.
    private var milliseconds: Int64? {
        switch self {
        case .millisecond: 1
        case .second: 1000
        case .minute: 60_000
        case .hour: 3_600_000
        case .day: CivilDate.dayMilliseconds
        case .week: 7 * CivilDate.dayMilliseconds
        default: nil
        }
    }

    private var months: Int {
        switch self {
        case .quarter: 3
        case .year: 12
        case .decade: 120
        case .century: 1200
        case .millennium: 12_000
        default: 1
        }
    }

    /// A time so many parts later. A day that the month does not have is its last one.
    /// - Returns: nil beyond the years 0 to 9999.
    func add(_ count: Int64, to time: Int64) -> Int64? {
        if let milliseconds {
            let (length, isTooLong) = count.multipliedReportingOverflow(by: milliseconds)
            let (sum, isTooFar) = time.addingReportingOverflow(length)
            return isTooLong || isTooFar || !CivilDate.range.contains(sum) ? nil : sum
        }
        guard var date = CivilDate(milliseconds: time), (-120_000...120_000).contains(count) else { return nil }
        let month = date.year * 12 + date.month - 1 + Int(count) * months
        (date.year, date.month) = (month.floorDivided(by: 12), month.floorRemainder(by: 12) + 1)
        date.day = min(date.day, CivilDate.length(ofMonth: date.month, in: date.year))
        return date.isValid ? date.milliseconds : nil
    }

    /// How many whole parts lie between two times: below zero where the first one is earlier.
    func difference(_ first: Int64, _ second: Int64) -> Int64? {
        if let milliseconds { return (first - second) / milliseconds }
        guard let one = CivilDate(milliseconds: first), let other = CivilDate(milliseconds: second) else { return nil }
        var whole = (one.year * 12 + one.month) - (other.year * 12 + other.month)
        // Not whole where the rest of the month points the other way.
        let rest = { (date: CivilDate) in
            date.milliseconds - CivilDate(year: date.year, month: date.month, day: 1).milliseconds
        }
        if whole > 0, rest(one) < rest(other) { whole -= 1 }
        if whole < 0, rest(one) > rest(other) { whole += 1 }
        return Int64(whole / months)
    }

    /// The beginning of the part that a time is in. Weeks begin on Monday.
    func truncate(_ time: Int64) -> Int64? {
        guard var date = CivilDate(milliseconds: time) else { return nil }
        if self == .week {
            let monday = date.days - (date.weekday + 6) % 7
            let start = Int64(monday) * CivilDate.dayMilliseconds
            return CivilDate.range.contains(start) ? start : nil
        }
        if let milliseconds { return time.floorDivided(by: milliseconds) * milliseconds }
        switch self {
        case .quarter: date.month = (date.month - 1) / 3 * 3 + 1
        case .decade: date.year = date.year / 10 * 10
        case .century: date.year = date.year / 100 * 100
        case .millennium: date.year = date.year / 1000 * 1000
        default: break
        }
        if self != .month, self != .quarter { date.month = 1 }
        return CivilDate(year: date.year, month: date.month, day: 1).milliseconds
    }

    /// What a part of a date is, by more names than there are parts to count.
    static func value(_ name: String, of time: Int64, offset: Int) -> Int? {
        guard let date = CivilDate(milliseconds: time) else { return nil }
        switch name.lowercased() {
        case "day_of_week", "dow": return date.weekday
        case "day_of_year", "doy": return date.dayOfYear
        case "week", "iso_week": return date.isoWeek.week
        case "iso_year": return date.isoWeek.year
        case "iso_dow": return (date.weekday + 6) % 7 + 1
        case "timezone": return offset * 60
        case "timezone_hour": return offset / 60
        case "timezone_minute": return offset % 60
        default: break
        }
        switch DatePart(name) {
        case .millisecond: return date.millisecond
        case .second: return date.second
        case .minute: return date.minute
        case .hour: return date.hour
        case .day: return date.day
        case .week: return date.isoWeek.week
        case .month: return date.month
        case .quarter: return (date.month - 1) / 3 + 1
        case .year: return date.year
        case .decade: return date.year / 10
        case .century: return (date.year + 99) / 100
        case .millennium: return (date.year + 999) / 1000
        case nil: return nil
        }
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
}
