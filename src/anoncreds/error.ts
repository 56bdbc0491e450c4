/** What the engine of AnonCreds refuses to calculate with, or cannot: the message is a reason that can stand inside a sentence. */
export class AnonCredsError extends Error {
  override name = 'AnonCredsError'
}
