/** An offer of an OpenID4VCI issuer in words, for the terminal and the dashboard. */
import type { Answer } from '../client/api.ts'

type Offered = Answer<'POST /issue-credentials/records/openid4vci'>
type Status = NonNullable<Offered['openid4vci']>

const ways: Record<Status['grant'], string> = {
  'pre-authorized_code': 'the code in the offer',
  authorization_code: 'your consent at the issuer, in a browser',
}

/** The issuer, the credential and its claims, why the issuer is trusted, and how the wallet gets access. */
export function describeOffer({ openid4vci }: Offered): [name: string, value: string][] {
  if (!openid4vci) return []
  const { credentialIssuer, issuerName, credentialName, credentialConfigurationId, format, types } =
    openid4vci
  const { claims, grant, txCode, copies } = openid4vci
  const named = claims.map(({ path, name }) => name ?? path.filter((part) => part !== null).join('.'))
  const fields: [string, string | undefined][] = [
    ['issuer', credentialIssuer],
    ['calls itself', issuerName],
    ['trust', trustIn(credentialIssuer)],
    ['credential', credentialName ?? credentialConfigurationId],
    ['format', `${format}, ${types.join(' ')}`],
    ['claims', named.length === 0 ? 'not described' : named.join(', ')],
    ['copies', copies?.toString()],
    ['access by', txCode ? `${ways[grant]}, and a transaction code` : ways[grant]],
  ]
  return fields.filter((each): each is [string, string] => each[1] !== undefined)
}

function trustIn(issuer: string): string {
  const { host, protocol } = new URL(issuer)
  return protocol === 'https:'
    ? `${host} is authenticated by https; the credential’s signature is checked when it arrives`
    : `${host} is not authenticated (http); the credential’s signature is checked when it arrives`
}

/** Why a transaction code does not fit the offer. */
export function txCodeFault(
  { inputMode, length }: NonNullable<Status['txCode']>,
  text: string,
): string | undefined {
  if (inputMode === 'numeric' && !/^\d+$/.test(text)) return 'It consists of digits.'
  return length === undefined || text.length === length ? undefined : `It has ${length} characters.`
}
