internal import DunlinReactor

/// The bytes of a form, on demand: a part is opened when its turn comes and closed at its end.
///
/// A sender takes them in pieces and lets the kernel read the files.
struct MultipartChunks: FiledChunks {
    typealias Element = Bytes
    typealias Failure = any Error

    let form: MultipartForm
    var pieceSize = 256 * 1024

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: Pieces(form, pieceSize, readsFiles: true))
    }

    func makePieces() -> Pieces {
        Pieces(form, pieceSize, readsFiles: false)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var pieces: Pieces

        mutating func next() async throws -> Bytes? {
            guard case .bytes(let bytes)? = try await pieces.next() else { return nil }
            return bytes
        }
    }

    struct Pieces: BodyPieces {
        private let form: MultipartForm
        private let readsFiles: Bool
        private var machine: MultipartMachine
        private var part: (any AsyncIteratorProtocol<Bytes, any Error>)?
        private var name = ""

        init(_ form: MultipartForm, _ pieceSize: Int, readsFiles: Bool) {
            self.form = form
            self.readsFiles = readsFiles
            machine = MultipartMachine(form.runs, pieceSize: pieceSize)
        }

        mutating func next() async throws -> BodyPiece? {
            while true {
                switch machine.next() {
                case .give(let bytes): if !bytes.isEmpty { return .bytes(bytes) }
                case .open(let index): if let file = try open(index) { return .file(file) }
                case .read: try await read()
                case .end: return nil
                }
            }
        }

        func explained(_ error: NetworkError) -> NetworkError {
            var explained = error
            explained.reason = Self.reason(name)
            explained.underlying = error
            return explained
        }

        /// Opens a part. Returns a file if the file is the whole part.
        private mutating func open(_ index: Int) throws -> FileSource? {
            let part = form.parts[index]
            name = part.name
            switch part.source {
            case .bytes, .refused: self.part = nil
            case .file(let path):
                // Only the announced length is sent of a file that has grown.
                let file = RequestBody.File(path, range: form.fileLengths[index].map { 0..<$0 })
                if readsFiles {
                    self.part = FileChunks(file: file).makeAsyncIterator()
                } else {
                    return try pass(file)
                }
            case .stream(_, _, let make): self.part = RequestBody.iterator(of: make())
            }
            return nil
        }

        private mutating func pass(_ file: RequestBody.File) throws -> FileSource {
            do {
                let source = try FileSource(file)
                try machine.passed(source.length)
                return source
            } catch let violation as MultipartMachine.Violation {
                throw mismatch(violation)
            } catch {
                throw unreadable(error)
            }
        }

        private mutating func read() async throws {
            do {
                let bytes = try await part?.next(isolation: nil)
                if bytes == nil { part = nil }
                try machine.took(bytes)
            } catch let violation as MultipartMachine.Violation {
                throw mismatch(violation)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw unreadable(error)
            }
        }

        private func mismatch(_ violation: MultipartMachine.Violation) -> NetworkError {
            NetworkError(.bodyLengthMismatch, violation.reason(name), phase: .send)
        }

        private func unreadable(_ error: any Error) -> NetworkError {
            NetworkError(
                (error as? NetworkError)?.code ?? .invalidPart, Self.reason(name), phase: .send, underlying: error)
        }

        private static func reason(_ name: String) -> String { "the part \"\(name)\" could not be read" }
    }
}

extension MultipartMachine.Violation {
    fileprivate func reason(_ name: String) -> String {
        switch self {
        case .tooShort(_, let missing): "the part \"\(name)\" is \(missing) bytes shorter than announced"
        case .tooLong: "the part \"\(name)\" is longer than announced"
        }
    }
}
