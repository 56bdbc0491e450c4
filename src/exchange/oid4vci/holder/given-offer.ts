/** What a credential offer says without a request to anybody. */
import * as z from 'zod'
import { readForeign } from '../../../foundation/foreign.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { ReceivedOffer } from './credential-offer.ts'
import { invalidOffer, parseOffer, parametersOf } from './offer.ts'

const Web = z.url({ protocol: /^https?$/ })

/**
 * The issuer of an offer by value; of one by reference, the URL of the offer.
 *
 * @throws {Problem} `InvalidCredentialOffer`
 */
export function readGivenOffer(text: string): { issuer: string } {
  const { value, reference = text } = text.startsWith('{') ? { value: text } : parametersOf(new URL(text))
  if (value === undefined) {
    if (!Web.safeParse(reference).success)
      throw invalidOffer('credential_offer_uri is no URL of http or https')
    return { issuer: reference }
  }
  const parsed = readForeign(ReceivedOffer, parseOffer(value))
  if (!parsed.success) throw invalidOffer(reasonOf(parsed.error))
  const { credential_issuer: issuer } = parsed.data
  if (!Web.safeParse(issuer).success) throw invalidOffer('credential_issuer is no URL of http or https')
  return { issuer }
}
