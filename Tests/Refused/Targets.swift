import Dunlin

/// Each line that says so must not compile, by .ci/checks/refusals, which tries them one by one; without them all of it
/// must. A text without a label would lose the escaping of what is interpolated in it.
func targets(_ client: HTTPSession, id: String, text: String, page: Int) async throws {
    try await client.get("users/\(id)")
    try await client.get(url: text)
    try await client.get("users/" + id)  // refused
    try await client.get(text)  // refused
    try await client.delete("users/\(id)" + text)  // refused
    try await client.post(text, json: page)  // refused
    _ = try client.task(text, as: .bytes)  // refused
    _ = try await client.stream(text)  // refused
    try await client.get("users", query: ["page": page])
    try await client.get("users", query: ["client": client])  // refused
    let bytes: Bytes = try await client.get("users").value
    let response: Bytes = try await client.get("users")  // refused
    try await client.get("users", timeout: 2)  // refused
    _ = bytes
}

/// What does not show its value, or is none, is no part of what is sent or signed.
func parts(body: Bytes?, token: HTTPSession.BearerToken, message: HTTP.WebSocketMessage) {
    let signed: Bytes = "\(token.value)\(message.bytes)"
    let signedIfAny: Bytes = "\(body)"  // refused
    let secret: Bytes = "\(token)"  // refused
    let sent: Bytes = "\(message)"  // refused
    let target: HTTP.Target = "sessions/\(token)"  // refused
    _ = signed
}
