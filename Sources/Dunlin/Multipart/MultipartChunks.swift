internal import DunlinTransport

/// A form's bytes as they are asked for: a part is opened when its turn comes, and let go of at its end.
struct MultipartChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let form: MultipartForm
    var pieceSize = 256 * 1024

    func makeAsyncIterator() -> Iterator {
        Iterator(form, pieceSize)
    }

    struct Iterator: AsyncIteratorProtocol {
        private let form: MultipartForm
        private var machine: MultipartMachine
        private var part: (any AsyncIteratorProtocol<Bytes, any Error>)?
        private var name = ""

        init(_ form: MultipartForm, _ pieceSize: Int) {
            self.form = form
            machine = MultipartMachine(form.runs, pieceSize: pieceSize)
        }

        mutating func next() async throws -> Bytes? {
            while true {
                switch machine.next() {
                case .give(let bytes): if !bytes.isEmpty { return bytes }
                case .open(let index): open(index)
                case .read: try await read()
                case .end: return nil
                }
            }
        }

        private mutating func open(_ index: Int) {
            let part = form.parts[index]
            name = part.name
            switch part.source {
            case .bytes, .refused: self.part = nil
            case .file(let path):
                // Of a file that has grown, what was announced is sent.
                let file = RequestBody.File(path, range: form.fileLengths[index].map { 0..<$0 })
                self.part = FileChunks(file: file).makeAsyncIterator()
            case .stream(_, _, let make): self.part = Self.iterator(of: make())
            }
        }

        private static func iterator(of chunks: some RequestBody.Chunks) -> any AsyncIteratorProtocol<Bytes, any Error>
        {
            chunks.makeAsyncIterator()
        }

        private mutating func read() async throws {
            do {
                let bytes = try await part?.next(isolation: nil)
                if bytes == nil { part = nil }
                try machine.took(bytes)
            } catch let violation as MultipartMachine.Violation {
                throw NetworkError(.bodyLengthMismatch, violation.reason(name), phase: .send)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw NetworkError(
                    (error as? NetworkError)?.code ?? .invalidPart, "the part \"\(name)\" could not be read",
                    phase: .send, underlying: error)
            }
        }
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
