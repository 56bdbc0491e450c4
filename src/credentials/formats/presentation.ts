/**
 * What a presentation of any format contains, and its checks in their order (OpenID4VP 1.0 §8.6, Annex B; RFC
 * 9901 §7.3).
 */
import { inSpan } from '../../foundation/spans.ts'
import { checkValidity, defaultLeewaySeconds, toValidity } from '../codecs/validity.ts'
import { VerificationError } from '../codecs/verification-error.ts'
import { establishStatuses, type VerificationOptions } from '../codecs/verify.ts'
import type { VerificationKey } from '../../did/document.ts'
import type { PrivateJwk, PublicJwk } from '../../foundation/crypto/keys.ts'
import type { DcqlCredential } from '../dcql/match.ts'
import type { Check } from './checks.ts'
import type { Decoded } from './format.ts'
import type { PresentedCredential } from './presented.ts'

/** The most credentials of a presentation over DIDComm. Each may cost the resolution of a DID. */
export const maxCredentials = 100

/** The key that the response is encrypted to. The verifier has its private half. */
type Encryption = { encryptedTo?: PublicJwk | PrivateJwk | undefined }

/** What a request and its transport give to the transcript that the holder of a document signs. */
export type Session =
  /** The response goes to a URL. The client id has its prefix (OpenID4VP 1.0 Annex B.2.6.1). */
  | ({ handover: 'redirect'; clientId: string; nonce: string; responseUri: string } & Encryption)
  /** The response goes to a page with this origin, which has no prefix (OpenID4VP 1.0 Annex B.2.6.2). */
  | ({ handover: 'dc-api'; origin: string; nonce: string; clientId?: string | undefined } & Encryption)
  /** Without OpenID4VP (ISO/IEC TS 18013-7 Annex C). `encryptionInfo` is base64url, as it was sent. */
  | { handover: 'org-iso-mdoc'; origin: string; encryptionInfo: string }

/** What holder and issuers sign must fit. Times are in epoch seconds. */
export type Expected = {
  audience: string
  nonce: string
  /** When the request was made. Undefined: the holder may have signed at any time. */
  requestedAt?: number | undefined
  /** For the times that the holder signs. */
  leewaySeconds?: number | undefined
  /** What the request and its transport give to the transcript that the holder of a document signs. */
  session?: Session | undefined
  options: VerificationOptions
}

/** What the holder has signed beside the credentials. */
export type Answer = {
  aud?: string | string[] | undefined
  nonce?: string | undefined
  iat?: number | undefined
  nbf?: number | undefined
  exp?: number | undefined
}

/** A presented credential. */
export type Shown = {
  /** What the verifier records. */
  credential: Omit<PresentedCredential, 'credentialId'>
  /** What queries in DCQL refer to. */
  queried: DcqlCredential
  /** The credential itself asks for holder binding. */
  needsHolder: boolean
  decoded: Decoded
}

export type Presentation = {
  shown: readonly Shown[]
  /** Undefined if the holder has signed nothing. */
  answer: Answer | undefined
  /** Whether the holder of the credentials has signed the answer. */
  checkHolder: (options: VerificationOptions) => Promise<unknown>
  /** All checks, of a format whose specification has another order. `demanded` are those of the request. */
  checks?: (expected: Expected, demanded: readonly Check[]) => Check[]
}

/**
 * The checks of a request: which credentials it wants, with which claims, of which issuers. What is not a
 * check is left out.
 */
export type Demands = (presentation: Presentation) => (Check | false | undefined)[]

/** All checks of a presentation. Those that may fetch documents of strangers come last. */
export function checksOf(presentation: Presentation, expected: Expected, demands: Demands): Check[] {
  const { shown, answer, checkHolder } = presentation
  const demanded = demands(presentation).filter((check): check is Check => Boolean(check))
  if (presentation.checks) return presentation.checks(expected, demanded)
  const { options } = expected
  const { verifyDates = true, verifySignature = true, verifyStatus = true } = options
  const each = (isOn: boolean, check: (shown: Shown) => unknown) => () =>
    isOn ? forEach(shown, check) : undefined
  const checks: ReturnType<Demands> = [
    ...(answer ? answerChecks(answer, expected) : []),
    ...demanded,
    [
      'validity',
      each(verifyDates, ({ decoded }) => checkValidity(decoded, options.now, options.leewaySeconds)),
    ],
    answer && ['holder-binding', () => checkHolder(options)],
    ['signature', each(verifySignature, (credential) => checkIssuer(credential, options))],
    ['status', each(verifyStatus, ({ decoded }) => establishStatuses(decoded, options))],
  ]
  return checks.filter((check): check is Check => Boolean(check))
}

/** The holder's signature must be for this request, and made after it (OpenID4VP 1.0 §14.1). */
export function answerChecks(answer: Answer, expected: Expected): Check[] {
  const { audience, nonce, requestedAt, leewaySeconds = defaultLeewaySeconds, options } = expected
  const { iat } = answer
  const audiences = [answer.aud ?? []].flat()
  return [
    [
      'audience',
      () => {
        if (!audiences.includes(audience))
          throw new VerificationError(
            'audience',
            `The presentation is for [${audiences.join(', ')}], not for the audience of the request`,
          )
      },
    ],
    [
      'nonce',
      () => {
        if (answer.nonce === undefined || answer.nonce !== nonce)
          throw new VerificationError('nonce', 'The nonce of the presentation is not that of the request')
      },
    ],
    [
      'time',
      () => {
        checkValidity(toValidity([iat, answer.nbf], [answer.exp]), options.now, leewaySeconds)
        if (iat !== undefined && requestedAt !== undefined && iat < requestedAt - leewaySeconds)
          throw new VerificationError('expired', 'The presentation was made before the request')
      },
    ],
  ]
}

/**
 * Checks one credential after the other.
 *
 * @throws {VerificationError} with the number of the credential, if there are several
 */
export async function forEach(shown: readonly Shown[], check: (each: Shown) => unknown): Promise<void> {
  for (const [index, each] of shown.entries())
    try {
      await check(each)
    } catch (error) {
      if (shown.length === 1 || !(error instanceof VerificationError)) throw error
      const numbered = `Credential ${index + 1} of ${shown.length}: ${error.message}`
      throw new VerificationError(error.code, numbered, { cause: error })
    }
}

/** Returns the key of the issuer, which may have to be resolved. */
export function checkIssuer(
  { decoded: { signed } }: Shown,
  options: VerificationOptions,
): Promise<VerificationKey> {
  return inSpan(
    () => ({ name: 'verify credential', isDetail: true }),
    () => signed.check(options),
  )
}
