internal import COpenSSL
internal import DunlinTypes

/// All that is wrong with a path that was refused, for those who are told.
///
/// The decision is made already, by a run that stops at the first fault: this one goes on, and whether it comes through
/// says nothing. So a missing extension does not hide that the certificate has expired.
extension PathVerifier {
    /// Returns the faults, the most useful first: those that the certificate's owner must correct anyway, then formal
    /// ones. Never empty: the deciding fault is among them.
    func faults(of leaf: OpaquePointer, sent: OpaquePointer?, deciding: Fault) -> [Fault] {
        var record = FaultRecord(passes: passes)
        withUnsafeMutablePointer(to: &record) { record in
            _ = verify(leaf, sent: sent) { context in
                X509_STORE_CTX_set_ex_data(context, applicationData, record)
                X509_STORE_CTX_set_verify_cb(context, recordingFaults)
                _ = X509_verify_cert(context)
                return .failure(.outOfMemory)
            }
        }
        var known: Set<FaultKind> = []
        let distinct = ([deciding] + record.faults).filter { known.insert(FaultKind($0)).inserted }
        return distinct.filter { !$0.isFormal } + distinct.filter(\.isFormal)
    }
}

extension PathVerifier.Fault {
    /// Whether only `.strict` rules check it.
    var isFormal: Bool { VerificationCode.formal.contains(code) }

    /// Whether faults found after this one still mean something; after a wrong signature, for example, they do not.
    fileprivate var leavesMoreToFind: Bool {
        switch VerificationCode.reason(code) {
        case .expired, .notYetValid, .unknownIssuer, .selfSigned, .weakKey, .weakSignature, .wrongPurpose: true
        default: isFormal
        }
    }
}

/// A kind of fault. OpenSSL has several codes for an unknown issuer, by the moment it notices.
private struct FaultKind: Hashable {
    let depth: Int
    let code: Int32
    let isAboutIssuer: Bool

    init(_ fault: PathVerifier.Fault) {
        switch VerificationCode.reason(fault.code) {
        case .unknownIssuer, .selfSigned: (depth, code, isAboutIssuer) = (0, 0, true)
        default: (depth, code, isAboutIssuer) = (fault.depth, fault.code, false)
        }
    }
}

/// The faults of a run, and those that it passes over as the deciding run did.
private struct FaultRecord {
    let passes: FaultCallback
    var faults: [PathVerifier.Fault] = []
}

/// The index that OpenSSL leaves to the context's creator.
private let applicationData: Int32 = 0

/// The most faults to report, as a server may cause any number.
private let mostFaults = 8

private let recordingFaults: FaultCallback = { isValid, context in
    guard let data = X509_STORE_CTX_get_ex_data(context, applicationData) else { return 0 }
    let record = data.assumingMemoryBound(to: FaultRecord.self)
    if record.pointee.passes(isValid, context) == 1 { return 1 }
    let fault = PathVerifier.Fault(of: context)
    record.pointee.faults.append(fault)
    return fault.leavesMoreToFind && record.pointee.faults.count < mostFaults ? 1 : 0
}
