/** Credential offers (VCI §4.1), by value and by reference, as a wallet reads them. */
import { oneLine, readForeign } from '../../../foundation/foreign.ts'
import { tryParseJson } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { type Caller, getDocument, requireSafe } from './caller.ts'
import { ReceivedOffer } from './credential-offer.ts'

/** The longest offer, in characters. */
export const longestOffer = 65_536

/**
 * Reads an offer: a URL with the parameter `credential_offer` or `credential_offer_uri` under any scheme, the
 * http URL of an offer, or the JSON of an offer.
 *
 * @throws {Problem} `InvalidCredentialOffer`; and of `getDocument`
 */
export async function readOffer(caller: Caller, text: string): Promise<ReceivedOffer> {
  const content = await contentOf(caller, text.trim())
  const parsed = readForeign(ReceivedOffer, content)
  if (!parsed.success) throw invalidOffer(reasonOf(parsed.error))
  requireSafe(caller.wallet, parsed.data.credential_issuer)
  return parsed.data
}

async function contentOf(caller: Caller, text: string): Promise<unknown> {
  if (text.startsWith('{')) return parseOffer(text)
  if (!URL.canParse(text)) throw invalidOffer('it is neither a URL nor a JSON object')
  const { protocol } = new URL(text)
  const { value, reference } = parametersOf(new URL(text))
  if (value !== undefined) return parseOffer(value)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  if (reference === undefined && !isWeb)
    throw invalidOffer('the URL has neither credential_offer nor credential_offer_uri')
  const found = await getDocument(caller, reference ?? text)
  if ('document' in found) return found.document
  if (found.status === 404 || found.status === 410)
    throw invalidOffer('its server does not have it: it was redeemed, was withdrawn, or has expired')
  throw invalidOffer(`the document at its URL cannot be read: it ${found.fault}`)
}

/** The offer in a URL, or the URL of the offer. @throws {Problem} */
export function parametersOf({ searchParams }: URL): { value?: string; reference?: string } {
  const [value, reference] = ['credential_offer', 'credential_offer_uri'].map((name) => {
    if (searchParams.getAll(name).length > 1) throw invalidOffer(`it has ${name} more than once`)
    return searchParams.get(name) ?? undefined
  })
  if (value !== undefined && reference !== undefined)
    throw invalidOffer('it has both credential_offer and credential_offer_uri')
  return { ...(value !== undefined && { value }), ...(reference !== undefined && { reference }) }
}

export function parseOffer(text: string): unknown {
  const content = tryParseJson(text)
  if (content === undefined) throw invalidOffer('credential_offer is not JSON')
  return content
}

/** `reason` continues a sentence, as in `unsupportedOffer`. */
export function invalidOffer(reason: string): Problem {
  return toProblem(`the offer cannot be accepted: ${oneLine(reason, 1_000)}. Ask the issuer for a new one.`)
}

/** The problem of a valid offer that requires what this wallet does not support. */
export function unsupportedOffer(reason: string): Problem {
  return toProblem(`the offer is not supported here: ${oneLine(reason, 1_000)}.`)
}

function toProblem(detail: string): Problem {
  return new Problem('error:CredentialServiceError:InvalidCredentialOffer', `credentialOffer: ${detail}`)
}
