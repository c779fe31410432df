/// A date of the Gregorian calendar with the time of day, without a zone: the years 0 to 9999, to the millisecond.
package struct CivilDate: Equatable, Sendable {
    package var year: Int
    /// From 1, as the day.
    package var month: Int
    package var day: Int
    package var hour = 0
    package var minute = 0
    package var second = 0
    package var millisecond = 0

    package static let dayMilliseconds: Int64 = 86_400_000
    /// What lies within the years 0 to 9999, in milliseconds since 1970.
    package static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    package init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Nil beyond the years 0 to 9999.
    package init?(milliseconds: Int64) {
        guard Self.range.contains(milliseconds) else { return nil }
        let days = milliseconds.floorDivided(by: Self.dayMilliseconds)
        var rest = Int(milliseconds - days * Self.dayMilliseconds)
        self.init(days: Int(days))
        millisecond = rest % 1000
        rest /= 1000
        second = rest % 60
        rest /= 60
        (hour, minute) = (rest / 60, rest % 60)
    }

    /// The day so many days after 1970-01-01. A year begins in March here, so that the leap day is its last.
    private init(days: Int) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Days since 1970-01-01.
    package var days: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.floorDivided(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package var milliseconds: Int64 {
        Int64(days) * Self.dayMilliseconds + Int64(((hour * 60 + minute) * 60 + second) * 1000 + millisecond)
    }

    package static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    package static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: isLeap(year) ? 29 : 28
        default: 31
        }
    }

    /// Whether there is such a day and time. A minute has 60 seconds.
    package var isValid: Bool {
        (0...9999).contains(year) && (1...12).contains(month) && day >= 1
            && day <= Self.length(ofMonth: month, in: year) && (0...23).contains(hour) && (0...59).contains(minute)
            && (0...59).contains(second) && (0...999).contains(millisecond)
    }

    /// From 0, which is Sunday.
    package var weekday: Int { (days + 4).floorRemainder(by: 7) }

    package var dayOfYear: Int { days - CivilDate(year: year, month: 1, day: 1).days + 1 }

    /// The week and its year by ISO 8601: weeks begin on Monday, and the first one has the year's first Thursday.
    package var isoWeek: (year: Int, week: Int) {
        let thursday = CivilDate(days: days - (weekday + 6) % 7 + 3)
        return (thursday.year, (thursday.dayOfYear - 1) / 7 + 1)
    }
}

extension FixedWidthInteger {
    /// The quotient, rounded down.
    package func floorDivided(by divisor: Self) -> Self { self / divisor - (self % divisor < 0 ? 1 : 0) }

    package func floorRemainder(by divisor: Self) -> Self { self - floorDivided(by: divisor) * divisor }
}
