internal import Glibc

/// The calendar's time, which certificates and tickets go by, whatever clock a loop has.
public enum WallClock {
    /// Seconds since 1970.
    public static var seconds: Int64 { Int64(time(nil)) }
}
