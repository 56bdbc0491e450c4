import * as Flags from '@oclif/core/flags'
import { readClaimsPath, claimsOfSchema } from '../../cli/dcql.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { safeJson } from '../../cli/format/text.ts'
import { optionalArgument, repeatable } from '../../cli/input/arguments.ts'
import { readGiven } from '../../cli/input/given.ts'
import { isGuid, schemaUrl } from '../../cli/input/registry.ts'
import { toBase64url } from '../../src/foundation/bytes.ts'
import { formatNames, isTokenFormat, openIdTraits } from '../../src/definitions/format-names.ts'
import type { DcqlCredential } from '../../src/credentials/dcql/match.ts'
import type { ClaimsPath } from '../../src/credentials/dcql/query.ts'

/** The longest credential in characters. */
const maxLength = 1_500_000

type Chosen = {
  schema?: string | undefined
  jwt: boolean
  claim?: string[] | undefined
  id: string
}

export default defineCommand({
  summary: 'Print a query (DCQL) for a credential like this one, or of a schema',
  description:
    'The query requests all claims, or those of --claim, by their paths: name, address.city, nationalities[0], nationalities[*]; of an mdoc the element, or namespace.element. agent proof request --dcql takes it. A token needs no daemon.',
  examples: [
    'agent dcql from <credential record> --claim name >query.json',
    'agent dcql from @credential.sdjwt',
    'agent dcql from @licence.cbor --claim family_name --claim age_over_18',
    'agent dcql from --schema <guid> --claim name --claim address.city',
    'agent dcql from --schema https://issuer.example/types/pass',
  ],
  args: {
    from: optionalArgument(
      'record of a credential of this wallet; or a JWT, an SD-JWT or an mdoc: its text, @file, or -',
    ),
  },
  flags: {
    schema: Flags.string({ description: 'guid of a schema on this agent, or the URL of a schema or type' }),
    jwt: Flags.boolean({
      dependsOn: ['schema'],
      description: 'the credential is a JWT, whose schema a query cannot name; default: an SD-JWT',
    }),
    claim: Flags.string({ ...repeatable, description: 'path of a claim to request; default: all claims' }),
    id: Flags.string({ default: 'credential', description: 'id of the credential in the query' }),
  },
  async run(context) {
    const { args, flags, log } = context
    if ((args.from === undefined) === (flags.schema === undefined))
      throw new UsageError('Give a credential, or a schema with --schema.')
    const { queryOf, RequestedDcqlQuery } = await import('../../src/operations/decode/index.ts')
    const { credential, paths } =
      args.from === undefined
        ? await ofSchema(context, flags.schema!, flags)
        : await ofCredential(await readToken(context, args.from), flags)
    const query = RequestedDcqlQuery.safeParse(queryOf(credential, paths, flags.id))
    if (!query.success) {
      const { path, message } = query.error.issues[0]!
      throw new UsageError(`There is no query for it: ${path.slice(2).join('.')} ${message}.`)
    }
    log(safeJson(query.data))
    return query.data
  },
})

type Asked = { credential: Pick<DcqlCredential, 'format' | 'types' | 'isBound'>; paths: ClaimsPath[] }

/** @throws {UsageError} for a claim that the credential does not have */
async function ofCredential(token: string, { claim }: Chosen): Promise<Asked> {
  const { describePath, readQueried, selectClaims, subjectPath } =
    await import('../../src/operations/decode/index.ts')
  let credential: ReturnType<typeof readQueried>
  try {
    credential = readQueried(token)
  } catch (error) {
    if ((error as Error).name !== 'VerificationError') throw error
    throw new UsageError(`The credential cannot be read: ${(error as Error).message}.`, 'agent decode <text>')
  }
  const { claimPaths: all } = credential
  if (!claim) return { credential, paths: all }
  const paths = claim.map((text) => {
    const element = openIdTraits(credential.format).claimDepth === 2 ? findElement(all, text) : undefined
    const path = element ?? subjectPath(credential.format, readClaimsPath(text))
    if (selectClaims(credential.claims, path)) return path
    const has = all.map((each) => describePath(each.slice(-1))).join(', ')
    throw new UsageError(`--claim: the credential has no claim ${text}. It has ${has || 'none'}.`)
  })
  return { credential, paths }
}

/** The element of an mdoc, whose namespaces have dots, by its name or with its namespace. */
function findElement(paths: readonly ClaimsPath[], text: string): ClaimsPath | undefined {
  return paths.find((path) => path.join('.') === text) ?? paths.find(([, name]) => name === text)
}

/** The token of a record of the wallet, or the given one. @throws {CommandError} */
async function readToken({ call }: Context, from: string): Promise<string> {
  if (!isGuid(from)) return (await readGiven(from, maxLength, toBase64url)).trim()
  const record = await call('GET /issue-credentials/records/{recordId}', { path: { recordId: from } })
  const { credential, protocolState, credentialFormat } = record
  const hint = `agent credential show ${from}`
  if (credential === undefined)
    throw new CommandError(`There is no credential yet; the record is in ${protocolState}.`, 5, hint)
  if (!isTokenFormat(credentialFormat)) {
    const { title, flag } = formatNames[credentialFormat]
    throw new CommandError(`DCQL has no format for ${title}.`, 2, `agent proof request --format ${flag}`)
  }
  return Buffer.from(credential, 'base64url').toString()
}

/** A schema of this agent, or the document at a URL. @throws {UsageError} if it names no claims */
async function ofSchema(
  { call, getAccess }: Context,
  schema: string,
  { jwt, claim }: Chosen,
): Promise<Asked> {
  const { subjectPath, fetchJson } = await import('../../src/operations/decode/index.ts')
  const { id: format, anyType } = formatNames[jwt ? 'JWT' : 'SDJWT'].openid
  const types = jwt ? [anyType] : [isGuid(schema) ? schemaUrl(schema, getAccess().url) : schema]
  const credential = { format, types, isBound: true } as const
  const named = claim?.map(readClaimsPath)
  const document = async () =>
    isGuid(schema)
      ? call('GET /schema-registry/schemas/{guid}/schema', { path: { guid: schema } })
      : fetchJson(schema).catch((error: Error) => {
          throw error.name === 'DecodeError' ? new UsageError(`--schema: ${error.message}.`) : error
        })
  const paths = named ?? claimsOfSchema(await document())
  if (!paths)
    throw new UsageError(
      `--schema: ${schema} is neither a JSON Schema with properties nor type metadata. Give --claim.`,
    )
  return { credential, paths: paths.map((path) => subjectPath(format, path)) }
}
