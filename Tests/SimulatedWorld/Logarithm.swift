internal import Glibc

/// The natural logarithm, to twelve digits: a library's last digit may differ from another's, and with it a whole run.
enum Logarithm {
    static func of(_ value: Double) -> Double { (log(value) * 1e12).rounded() / 1e12 }
}
