/** What a proof request over DIDComm asks for without a query in DCQL: lines of `proofs`, and claims by name. */
import type { JsonObject } from '../../foundation/json.ts'
import {
  checkAllSatisfied,
  checkOneSatisfied,
  type Constraint,
} from '../../credentials/codecs/constraints.ts'
import { findMissingIn } from '../../credentials/codecs/sd-jwt/presentation.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { type Demands, forEach, type Shown } from '../../credentials/formats/presentation.ts'

export type Lines = {
  /** Each credential must satisfy one, and each line must be satisfied. */
  proofs?: readonly Constraint[] | undefined
  /** Names of claims. A non-empty object as value names claims below; other values are ignored. */
  claims?: JsonObject | undefined
}

/**
 * The checks of a request, without those that it does not need. A credential that is bound to no key needs no
 * holder: Cloud Agents issue such ones. The prover may disclose more than is requested: the API lets it
 * choose the claims.
 */
export function demandsOfLines({ proofs = [], claims = {} }: Lines): Demands {
  const needsQuery = proofs.length > 0 || Object.keys(claims).length > 0
  return ({ shown, answer }) => {
    const isUnsigned = !answer && shown.some(({ needsHolder }) => needsHolder)
    const query = async () => {
      await forEach(shown, ({ decoded }) => checkOneSatisfied(proofs, decoded, 'The request'))
      checkAllSatisfied(
        proofs,
        shown.map(({ decoded }) => decoded),
      )
      await forEach(shown, (each) => checkClaims(each, claims))
    }
    return [isUnsigned && ['holder-binding', refuseUnsigned], needsQuery && ['query', query]]
  }
}

function refuseUnsigned(): never {
  const reason = 'The credential requires key binding, and the presentation has none'
  throw new VerificationError('holder-binding', reason)
}

/** @throws {VerificationError} `claim-missing` */
function checkClaims({ decoded: { claims } }: Shown, requested: JsonObject): void {
  const missing = findMissingIn(claims, requested)
  if (missing !== undefined)
    throw new VerificationError('claim-missing', `The claim ${missing} is not disclosed`)
}
