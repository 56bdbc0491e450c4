import { Problem } from '../base/problem.ts'

/** The longest reason in characters. Reasons may contain ids that a peer has chosen. */
const maxLength = 1_000

/**
 * Refuses an envelope or a message of a peer.
 *
 * @param reason the end of the sentence "The DIDComm message is refused: …". The sender sees it; it must not
 * contain plaintext or keys.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed`, always.
 */
export function refuse(reason: string, cause?: unknown): never {
  throw new Problem(
    'error:DIDCommControllerError:UnpackingFailed',
    `The DIDComm message is refused: ${reason.slice(0, maxLength)}.`,
    { cause },
  )
}
