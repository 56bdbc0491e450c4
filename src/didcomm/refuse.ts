/** The one way this folder says no to something a peer sent. */
import { Problem } from '../base/problem.ts'

/** The longest reason that is told, in characters: peers choose the ids that appear in it. */
const maxLength = 1_000

/**
 * Refuses an envelope or a message.
 *
 * @param reason what is wrong, as the rest of a sentence; it is shown to the sender and never holds plaintext or keys.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed`, always.
 */
export function refuse(reason: string, cause?: unknown): never {
  throw new Problem(
    'error:DIDCommControllerError:UnpackingFailed',
    `The DIDComm message is refused: ${reason.slice(0, maxLength)}.`,
    {
      cause,
    },
  )
}
