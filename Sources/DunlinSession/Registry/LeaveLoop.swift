/// Call this first in a closure that leaves a loop for the user's code.
///
/// A `@concurrent` closure begins on the requested executor, with one exception: if the first thing it does is call an
/// async function that runs on its caller's executor (SE-0461), the compiler omits the switch as useless. The user's
/// code would then begin on the loop and stay there until its first suspension. A call that the compiler cannot look
/// into keeps the switch.
@inline(never) func leaveLoop() {
    _ = Task.isCancelled
}
