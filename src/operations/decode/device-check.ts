/** The signature of a device over the transcript of its session (ISO/IEC 18013-5 §9.1.3). */
import { reasonOf } from '../../foundation/reason.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import type { Presented } from '../../credentials/formats/mdoc/device-response.ts'
import { checkAuthorized, isSigned } from '../../credentials/formats/mdoc/presentation.ts'
import type { Check } from './decoded.ts'
import { type Candidate, findMistake } from './session.ts'

/** `candidates` are the transcripts that the session may have. */
export function deviceCheck(presented: Presented, candidates: readonly Candidate[] | undefined): Check {
  const { kind } = presented.deviceAuth
  const name = kind === 'mac' ? 'device MAC' : 'device signature'
  const check = (result: Check['result'], detail: string) => ({ name, result, detail })
  try {
    checkAuthorized(presented)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    return check('failed', reasonOf(error))
  }
  if (kind === 'mac') return check('not verified', 'its key needs the private key of the reader')
  if (!candidates) return check('not verified', 'give its session with --transcript, or with --request')
  const found = candidates.find(({ transcript }) => isSigned(presented, transcript))
  if (found) return check('passed', `made by the device key, for ${found.what}`)
  const mistake = findMistake(candidates, ({ transcript }) => isSigned(presented, transcript))
  return check('failed', mistake ? `made for ${mistake}` : 'not made by the device key for this session')
}
