/**
 * Issuing tokens over DIDComm: the issuer's DID signs them, and the holder proves control of the subject's
 * DID with a token of its own.
 */
import { randomId } from '../../../foundation/id.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { decodeJws } from '../../../credentials/codecs/jws.ts'
import { createJwtVp } from '../../../credentials/codecs/jwt-vp.ts'
import { getManagedDid, isRegistrarDid } from '../../../wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../../wallet/did-registrar/keys.ts'
import { canonicalDid } from '../../../did/document.ts'
import { managedMethods, namesOf } from '../../../definitions/did-names.ts'
import { formats } from '../../../credentials/formats/index.ts'
import { verifyHolderProof } from '../../../credentials/formats/jwt/presentation.ts'
import { type TokenFormat, traitsOf } from '../../../definitions/format-names.ts'
import {
  challengeAttachment,
  isTokensFault,
  readChallenge,
  readToken,
  tokenAttachments,
} from '../../protocols/attachments.ts'
import type { IssuanceFormat } from '../format.ts'
import type { CredentialRecord } from '../model.ts'
import { checkBinding, verifyReceived } from '../received.ts'
import { invalidIssue, invalidRequest } from '../refusals.ts'
import { checkIssuer, checkOffered, signCredential } from '../sign.ts'

export function tokenIssuance(name: TokenFormat): IssuanceFormat {
  const format = formats[name]

  return {
    async offer(wallet, { domain: wanted, ...offered }) {
      await checkOffered(wallet, offered)
      const options = {
        challenge: randomId(),
        domain: wanted ?? wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN,
      }
      return {
        terms: { ...offered, ...options },
        attachments: challengeAttachment(options, name).attachments,
      }
    },

    readOffer: (content) => readChallenge(content),

    async request(wallet, record, { subjectId, keyId }) {
      if (subjectId === undefined)
        throw new Problem(
          'BadRequest',
          `subjectId: is missing. A ${name} credential needs a subject; name a DID of this wallet.`,
        )
      checkMethod(subjectId)
      const { longForm } = await getManagedDid(wallet.db, subjectId)
      const { privateJwk, keyId: kid } = await getSigningKey(wallet, subjectId, 'authentication', keyId)
      const proof = createJwtVp({
        holderDid: longForm,
        holderKey: privateJwk,
        // The issuer binds an SD-JWT to a key that is named here.
        ...(keyId !== undefined && { kid }),
        ...optionsOf(record),
        credentials: [],
      })
      return { attachments: tokenAttachments(proof, name), change: { subjectId, keyId } }
    },

    choose: (acceptance) => acceptance,

    /** The DID that the holder proves to control. */
    async readRequest(wallet, record, message) {
      const { audience, nonce } = optionsOf(record)
      if (audience === undefined) throw new Error(`the record ${record.id} has no domain`)
      try {
        const proof = readToken(message)
        const { holderDid, key } = await verifyHolderProof(proof, {
          audience,
          nonce,
          leewaySeconds: wallet.env.config.PRESENTATION_LEEWAY,
          options: { resolve: wallet.env.resolver.document, now: Math.floor(Date.now() / 1_000) },
        })
        const isBound = format.bindsTo?.(decodeJws(proof).header.kid) === true
        return { holderDid, ...(isBound && { holderKey: key.publicKeyJwk }) }
      } catch (error) {
        if (!isTokensFault(error)) throw error
        throw invalidRequest(`does not prove its subject: ${reasonOf(error)}`, error)
      }
    },

    checkIssuer,

    async issue(wallet, record) {
      const signed = await signCredential(wallet, record)
      return { ...signed, attachments: tokenAttachments(signed.credential, name) }
    },

    /**
     * Checks signature, dates, subject and binding, and compares the claims with the offer. The attachment's
     * format label is ignored.
     */
    async verify(wallet, record, message) {
      const { subjectId } = record
      try {
        const credential = readToken(message)
        const decoded = await verifyReceived(wallet, name, credential)
        if (traitsOf(name).openid?.isBoundToDid === false) await checkBinding(wallet, record, decoded)
        const { issuerDid: issuer, subjectDid: subject } = decoded
        if (
          subjectId === undefined ||
          subject === undefined ||
          canonicalDid(subject) !== canonicalDid(subjectId)
        ) {
          throw new TypeError('its subject is not the DID that the offer was accepted with')
        }
        const mismatch = format.findDifference(decoded, record)
        return mismatch === undefined ? { credential, issuer, subject } : { mismatch }
      } catch (error) {
        if (!isTokensFault(error)) throw error
        throw invalidIssue(reasonOf(error), error)
      }
    },

    read: (credential) => format.decode(credential),
  }
}

function optionsOf({ id, domain: audience, challenge: nonce }: CredentialRecord): {
  audience: string | undefined
  nonce: string
} {
  if (nonce === undefined) throw new Error(`the record ${id} has no challenge`)
  return { audience, nonce }
}

/** @throws {Problem} 422 for a DID method that wallets do not have */
function checkMethod(did: string): void {
  if (isRegistrarDid(did) || !did.startsWith('did:')) return
  const detail = `subjectId: ${did.slice(0, 100)} cannot be the subject; it must be a ${namesOf(managedMethods)} of this wallet.`
  throw new Problem('error:CredentialServiceError:UnsupportedDidFormat', detail)
}
