package import DunlinTypes

extension DigestMachine {
    /// The result of checking a server's confirmation.
    package enum Confirmation: Sendable, Hashable {
        /// There is no proof that can be checked.
        case unproven
        /// The server knows the password.
        case proven
        /// The response must not be trusted.
        case wrong(DigestProblem)
    }

    /// Checks the confirmation of an accepted answer. `bodyHash` is that of the response's body, if known: only a proof
    /// of the quality `auth-int` needs it, and without it cannot be checked.
    package mutating func confirmed(
        _ info: AuthenticationInfo, of answer: DigestAnswer, bodyHash: Bytes? = nil
    ) -> Confirmation {
        let confirmation = confirmation(info, of: answer, bodyHash)
        if case .wrong = confirmation { return confirmation }
        if let next = info.nextNonce, let realm = challenge?.realm, realm.hasSameBytes(as: answer.realm) {
            challenge?.nonce = next
        }
        return confirmation
    }

    private func confirmation(
        _ info: AuthenticationInfo, of answer: DigestAnswer, _ bodyHash: Bytes?
    ) -> Confirmation {
        if let nonce = info.clientNonce, !nonce.hasSameBytes(as: answer.clientNonce) { return .wrong(.otherAnswer) }
        if let count = info.count, count.lowercased() != answer.count { return .wrong(.otherAnswer) }
        // RFC 2069 used that parameter for something else.
        guard let proof = info.proof, let asked = answer.quality else { return .unproven }
        guard let quality = info.quality.map({ DigestQuality(rawValue: $0.lowercased()) }) ?? asked else {
            return .wrong(.otherAnswer)
        }
        let calculation = DigestCalculation(function: answer.algorithm.function, hashing: hashing)
        let use = DigestUse(nonce: answer.nonce, clientNonce: answer.clientNonce, count: answer.count)
        do throws(DigestProblem) {
            let expected = try calculation.response(
                key: answer.key, use: use, quality: quality, method: "", target: answer.target, bodyHash: bodyHash)
            return proof.lowercased() == expected ? .proven : .wrong(.wrongProof)
        } catch {
            return .unproven
        }
    }
}
