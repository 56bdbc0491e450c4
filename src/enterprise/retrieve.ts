/** DID requests and challenges of other agents, retrieved by their short URLs. */
import type * as z from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { findShortUrl } from '../net/short-url.ts'
import type { Wallet } from '../wallet/wallet.ts'

/**
 * The document of a short URL.
 *
 * @throws {Problem} `/errors/common/bad-request` for another URL, and for a document that is not of the type; `RetrievalFailed`
 */
export async function retrieveDocument<Type extends z.ZodType>(
  { env }: Wallet,
  shortUrl: string,
  { type, noun }: { type: Type; noun: string },
): Promise<z.output<Type>> {
  const refuse = (reason: string) => new Problem('/errors/common/bad-request', `shortUrl: ${reason}.`)
  const url = findShortUrl(shortUrl)
  if (!url) throw refuse('it is not an http or https URL with _oobid. Use the whole URL of the QR code')
  const parsed = type.safeParse(await env.retrieve(url))
  if (!parsed.success) throw refuse(`what ${url.host} returned is not a ${noun}: ${reasonOf(parsed.error)}`)
  return parsed.data
}
