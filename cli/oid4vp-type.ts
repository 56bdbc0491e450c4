/** The credential that `agent proof request --oid4vp` asks for: a type that the wallet issues or holds. */
import type { Answer } from './client/api.ts'
import { readLabels } from './client/names.ts'
import type { Context } from './define-command.ts'
import { UsageError } from './errors/errors.ts'
import { withLabel } from './format/parties.ts'
import { proofRequestText } from './format/proof-request.ts'
import { safeLine } from './format/text.ts'
import { acceptedBy, type IssuerFlags } from './input/issuers.ts'
import type { Question } from './prompts/missing.ts'
import { whichIssuer } from './prompts/questions.ts'
import type { Records } from './wait.ts'

type KnownType = Answer<'GET /credential-types'>['contents'][number]
type ByType = Answer<'POST /present-proof/presentations/openid4vp/by-type'>

/** @throws {UsageError} unless the wallet knows exactly one type */
export async function onlyType({ call }: Pick<Context, 'call'>): Promise<string> {
  const types = (await call('GET /credential-types')).contents
  if (types.length === 1) return valueOf(types[0]!)
  const which =
    types.length === 0
      ? 'This wallet issues and holds no credential yet: offer one first, or give the query with --dcql <file>.'
      : `Name the credential with --type: ${types
          .slice(0, 20)
          .map(({ name }) => safeLine(name))
          .join(', ')}; or give the query with --dcql <file>.`
  throw new UsageError(`--oid4vp needs a credential to ask for. ${which}`)
}

/** Returns a text that names this type and none of the others. */
const valueOf = ({ issuedBy, types }: KnownType) => issuedBy?.credentialConfigurationId ?? types.join(' ')

/** Asks which credential is requested from a wallet of OpenID4VP, as `--type`. */
export const whichType: Question = {
  unless: ['dcql', 'schema', 'format'],
  async ask({ call, given, terminal }) {
    if (!given['oid4vp']) return []
    const { contents: types } = await call('GET /credential-types')
    if (types.length < 2) return []
    const { askChoice } = await import('./prompts/ask.ts')
    const choices = types.map((type) => ({
      value: valueOf(type),
      name: `${type.name}  (${type.issuedBy ? 'issued here' : 'held'})`,
      hint: `${type.types.join(' ')}  ${type.claims.map(({ name }) => name).join(', ')}`,
    }))
    return [`--type=${await askChoice('Which credential is requested?', choices, terminal)}`]
  },
}

/** Asks whose credentials are accepted, unless the wallet itself issues the type. */
export const whichTrusted: Question = {
  ...whichIssuer,
  async ask(asking) {
    const { oid4vp, type } = asking.given
    if (!oid4vp) return whichIssuer.ask(asking)
    const { contents: types } = await asking.call('GET /credential-types')
    const wanted = typeof type === 'string' ? type.replace(/^--type=/, '').toLowerCase() : undefined
    const found = types.filter((each) =>
      [each.name, valueOf(each), ...each.types].some((text) => text.toLowerCase() === wanted),
    )
    const chosen = wanted === undefined ? types : found
    return chosen.length === 1 && chosen[0]!.issuedBy ? [] : whichIssuer.ask(asking)
  },
}

/** Says what the command has left to the agent: whom the request trusts, and who signs it. */
export async function sayChosen(
  { call, flags, say, isQuiet, isJson }: Context<object, IssuerFlags>,
  record: Records['proof'] | ByType,
): Promise<void> {
  if (isQuiet || isJson || !('chosen' in record)) return
  const { type, issuers, did, madeDid } = record.chosen
  say(`Asks for ${proofRequestText({ requestData: record.requestData }, true)}`)
  const labels = await readLabels(call, [...(issuers ?? []), did])
  const named = (each: string) => withLabel(each, labels)
  if (issuers) say(`Trusts its own issuer of ${safeLine(type)}: ${issuers.map(named).join(', ')}`)
  else if (!acceptedBy(flags) && flags.policy === undefined)
    say(
      'Trusts the authorities of `agent trust list`; to trust that of a certificate of this wallet: agent issuer-cert show <id> --root > root.pem, and agent trust add root.pem',
    )
  if (did !== undefined) say(`Signed by ${named(did)}${madeDid ? ', made because there was none' : ''}`)
}
