/**
 * Presentations of tokens: those of a selective format are of one credential, with claims by name; others
 * hold several whole ones.
 */
import * as z from 'zod'
import { hasPrototypeMember, JsonValue } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import { findMissing, isRequested } from '../../../credentials/codecs/sd-jwt/presentation.ts'
import { unbindable } from '../../../credentials/formats/keys.ts'
import { formats } from '../../../credentials/formats/index.ts'
import type { Decoded } from '../../../credentials/formats/format.ts'
import { type TokenFormat, traitsOf } from '../../../definitions/format-names.ts'
import { maxCredentials } from '../../../credentials/formats/presentation.ts'
import { keysOf } from '../../../wallet/did-registrar/holder-key.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import {
  attachmentFormatOf,
  challengeAttachment,
  encodedAttachments,
  readChallenge,
  ReceivedOptions,
  tokenAttachments,
} from '../../protocols/attachments.ts'
import { peersOf } from '../../protocols/peers.ts'
import type { HeldCredential } from '../../held-credentials/list.ts'
import type { ProofFormat, PresentOptions } from '../format.ts'
import { getHeldCredentials } from '../chosen-credentials.ts'
import { PresentationData, type PresentationRecord } from '../model.ts'
import { judge } from './judge.ts'
import { newOptions, requireFormat } from './options.ts'

export function tokenProof(name: TokenFormat): ProofFormat {
  const format = formats[name]
  const { isSelective } = traitsOf(name)
  const { createRequest, readRequest } = isSelective ? byClaims(name) : byChallenge(name)

  return {
    createRequest,
    readRequest,

    async choose(wallet, record, choice) {
      requireFormat(name, choice)
      const { proofId = [], claims: shownClaims } = choice
      if (!isSelective && Object.keys(shownClaims ?? {}).length > 0)
        throw new Problem(
          'BadRequest',
          `claims: the request is for ${name}, and a ${name} credential is presented as a whole.`,
        )
      const held = await getHeld(wallet, proofId)
      const [first] = held as [HeldCredential]
      const decoded = format.decode(first.credential)
      if (isSelective) checkClaims({ ...first, decoded }, record, shownClaims)
      format.checkTogether?.(held)
      await requireHolderKey(wallet, name, { ...first, decoded }, record)
      return { proofId, shownClaims }
    },

    async present(wallet, record) {
      const { options, proofId = [], claims = {}, shownClaims = claims } = record
      const held = await getHeld(wallet, proofId)
      // Only a signature of the holder uses audience and nonce. Without options there is none. Its audience
      // must name the verifier (RFC 9901 §4.3).
      const { challenge: nonce, domain } = options ?? { challenge: '' }
      const audience = domain ?? (isSelective ? (await peersOf(wallet.db, record)).theirDid : undefined)
      const discloses = (path: readonly string[]) => isRequested(shownClaims, path)
      return format.present(keysOf(wallet), held, { audience, nonce, discloses }, true)
    },

    attach: (presentation) => tokenAttachments(presentation, name),

    async verify(wallet, record, presentation) {
      const reading = { most: maxCredentials, isBound: true, isTyped: false, types: [] }
      const { shown, ...verdict } = await judge(wallet, record, () =>
        format.readPresentation(presentation, reading),
      )
      if (!isSelective || verdict.refusal !== undefined) return verdict
      const disclosedClaims = PresentationData.shape.disclosedClaims.parse(shown[0]?.decoded.claims)
      return { ...verdict, disclosedClaims }
    },
  }

  async function getHeld(wallet: Wallet, proofId: string[]): Promise<HeldCredential[]> {
    if (isSelective && proofId.length > 1)
      throw new Problem(
        'BadRequest',
        `proofId names ${proofId.length} credentials: a presentation of ${name} is of exactly one.`,
      )
    return getHeldCredentials(wallet.db, proofId, name)
  }

  function checkClaims(
    { id, decoded }: Pick<HeldCredential, 'id'> & { decoded: Decoded },
    record: PresentationRecord,
    chosen: PresentOptions['claims'],
  ): void {
    const missing = findMissing(decoded.claims, chosen ?? record.claims ?? {})
    if (missing === undefined) return
    const way = chosen
      ? 'Name claims that it has.'
      : 'Present another, or name the claims to show in `claims`.'
    throw new Problem(
      'BadRequest',
      `The credential ${id} has no claim ${missing}, which ${chosen ? 'is to be shown' : 'was asked for'}. ${way}`,
    )
  }
}

/**
 * @throws {Problem} `HolderBindingError` if the wallet lacks the key of a credential, or the request a
 * challenge to sign with it
 */
export async function requireHolderKey(
  wallet: Wallet,
  name: TokenFormat,
  held: Pick<HeldCredential, 'credential' | 'subject'> & { decoded: Decoded },
  { options }: Pick<PresentationRecord, 'options'>,
): Promise<void> {
  if (held.decoded.isBound && !options)
    throw unbindable(
      'The request has no challenge, and the credential is bound to a key: ask the verifier for a request with options.',
    )
  await formats[name].findHolderKey(keysOf(wallet), held, held.decoded)
}

type Requests = Pick<ProofFormat, 'createRequest' | 'readRequest'>

/**
 * Requests with a challenge and a definition that is satisfied by any credential, as Cloud Agents write and
 * read them.
 */
function byChallenge(name: TokenFormat): Requests {
  return {
    createRequest(wallet, requested, verifier) {
      const options = newOptions(wallet, requested, verifier)
      return { terms: { options }, ...challengeAttachment(options, name) }
    },
    readRequest: (content) => ({ options: readChallenge(content) }),
  }
}

/** Cloud Agents omit challenge and domain if their caller does not set them. */
const ClaimsRequest = z.looseObject({
  options: ReceivedOptions.nullish(),
  claims: z.record(z.string(), JsonValue).nullish(),
})

function byClaims(name: TokenFormat): Requests {
  return {
    createRequest(wallet, requested, verifier) {
      const { claims = {} } = requested
      const content = { options: newOptions(wallet, requested, verifier), claims }
      return { terms: content, attachments: encodedAttachments(content, attachmentFormatOf(name)), content }
    },
    readRequest(content) {
      const { options, claims } = ClaimsRequest.parse(content)
      if (hasPrototypeMember(content)) throw new TypeError('a claim is called __proto__')
      return { options: options ?? undefined, claims: claims ?? {} }
    },
  }
}
