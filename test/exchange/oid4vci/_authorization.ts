/** The steps of a wallet and of a person's browser with the grant `authorization_code`, each by itself. */
import { createHash, randomBytes } from 'node:crypto'
import { ask, type Reply } from '../../support/ask.ts'
import { offer, readOffer, redeem, type Issuer, type OfferOptions, type Setup } from './_wallet.ts'

export const redirectUri = 'https://wallet.example/cb?app=1'
const form = 'application/x-www-form-urlencoded'

export type Parameters = Record<string, string | undefined>

/** A verifier and its challenge (RFC 7636). */
export function newPkce() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The parameters of a valid authorization request for an offer of the credential `Person`. */
export async function requestFor(credentialOffer: string) {
  const { grants } = await readOffer(credentialOffer)
  const { verifier, challenge } = newPkce()
  const parameters: Parameters = {
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    state: 'a state',
    issuer_state: grants.authorization_code.issuer_state,
    scope: 'Person',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  return { verifier, parameters }
}

/** An offer with the grant, and a request for it. */
export async function offered(setup: Setup, options: OfferOptions = {}) {
  const made = await offer(setup, { grant: 'authorization_code', ...options })
  return { ...made, ...(await requestFor(made.credentialOffer)) }
}

const encode = (parameters: Parameters) =>
  new URLSearchParams(
    Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined),
  ).toString()

export function push({ agent, issuerId }: Issuer, parameters: Parameters): Promise<Reply> {
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/par`, { body: encode(parameters), type: form })
}

export type Shown = { status: number; text: string; headers: Headers; location: URL | undefined }

/** Requests a page, and does not follow a redirect. */
export async function show(url: string, init: RequestInit): Promise<Shown> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const location = response.headers.get('location')
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: location === null ? undefined : new URL(location),
  }
}

/** Opens the page of the authorization endpoint. */
export function open({ agent, issuerId }: Issuer, parameters: Parameters | string): Promise<Shown> {
  const query = typeof parameters === 'string' ? parameters : encode(parameters)
  return show(`${agent.url}/oid4vci/issuers/${issuerId}/authorize?${query}`, {})
}

/** The sealed request in the form of a page. */
export function sealedIn({ text }: Shown): string {
  return /name="request" value="([^"]+)"/.exec(text)![1]!
}

/** Sends the form of a page. */
export function answer(
  { agent, issuerId }: Issuer,
  fields: Parameters,
  headers: Record<string, string> = {},
): Promise<Shown> {
  const url = `${agent.url}/oid4vci/issuers/${issuerId}/authorize`
  return show(url, { method: 'POST', headers: { 'content-type': form, ...headers }, body: encode(fields) })
}

/** The code that a person's consent makes. */
export async function consent(setup: Issuer, parameters: Parameters, txCode?: string): Promise<string> {
  const page = await open(setup, parameters)
  const fields = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
  const { location } = await answer(setup, fields)
  return location!.searchParams.get('code')!
}

/** Redeems an authorization code. `changes` replace members of a valid request; undefined removes them. */
export function redeemAuthorized(
  setup: Issuer,
  { code, verifier }: { code: string; verifier: string },
  changes: Parameters = {},
): Promise<Reply> {
  const valid = {
    grant_type: 'authorization_code',
    code,
    client_id: 'wallet',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }
  return redeem(setup, encode({ ...valid, ...changes }))
}
