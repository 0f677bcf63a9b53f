internal import Glibc

/// The calendar's time, which counts for certificates and tickets, whatever clock a loop has.
public enum WallClock {
    /// Seconds since 1970.
    public static var seconds: Int64 { Int64(time(nil)) }
}
