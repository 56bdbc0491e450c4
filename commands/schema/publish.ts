import * as Flags from '@oclif/core/flags'
import type { Input } from '../../cli/client/api.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { readObject } from '../../cli/input/files.ts'
import { anonCredsSchemaUrl, didUrlFlag, kinds, openSchema, publicUrl } from '../../cli/input/registry.ts'

type PublishInput = Input<'POST /schema-registry/schemas'>

export default defineCommand({
  summary: 'Publish a credential schema, or a new version of one, in the agent’s registry',
  description:
    'The schema is JSON Schema, draft 2020-12; with --kind json-ld it also has a @context. With --anoncreds it is an AnonCreds schema, a list of attributes. A published schema is public at its URL.',
  examples: [
    'agent schema publish --name employee --author <did> --schema @employee.json',
    'agent schema publish --id <id> --version 1.1.0 --name employee --author <did> --schema @employee.json --sign',
    'agent schema publish --anoncreds --name "id card" --author <did> --attribute name --attribute age',
  ],
  flags: {
    id: Flags.string({ description: 'publish a new version of this schema: its id, not its guid' }),
    name: Flags.string({ required: true, description: 'name of the schema' }),
    version: Flags.string({ description: 'SemVer; must be greater than earlier versions', default: '1.0.0' }),
    author: Flags.string({ required: true, description: 'DID of the author, in this wallet' }),
    kind: Flags.option({
      options: Object.keys(kinds) as (keyof typeof kinds)[],
      default: 'json',
      description: 'kind of the schema',
    })(),
    anoncreds: Flags.boolean({ exclusive: ['kind'], description: 'as --kind anoncreds' }),
    schema: Flags.string({
      exactlyOne: ['schema', 'attribute'],
      description: 'the schema: @file.json, @- for standard input, or inline',
    }),
    attribute: Flags.string({
      ...repeatable,
      dependsOn: ['anoncreds'],
      description: 'an attribute of an AnonCreds schema; replaces --schema',
    }),
    description: Flags.string({ description: 'description for people' }),
    tag: Flags.string({ ...repeatable, description: 'tag of the schema' }),
    sign: Flags.boolean({ description: 'sign the schema with the author’s assertion key' }),
    'did-url': didUrlFlag,
  },
  async run(context) {
    const { flags, getAccess, print, suggest } = context
    const { id, name, version, author, description, attribute, tag: tags = [], sign } = flags
    const kind = flags.anoncreds ? 'anoncreds' : flags.kind
    const schema = attribute
      ? { name, version, attrNames: attribute, issuerId: author }
      : readObject('schema', flags.schema!)
    const input = {
      ...(sign && { query: { sign: 'true' as const } }),
      body: { name, version, author, description, tags, type: kinds[kind], schema },
    }
    const answer = flags['did-url']
      ? await publishWithDidUrl(context, id, input)
      : await publish(context, id, input)
    const made = openSchema(answer)
    const url =
      kind === 'anoncreds'
        ? await findSchemaUrl(context, made.guid, flags['did-url'])
        : publicUrl(answer, getAccess().url)
    print(made.guid, [
      ['schema', made.guid],
      ['id', made.id],
      ['name', `${made.name} ${made.version}`],
      ['author', made.author],
      ['signed by', made.proof?.verificationMethod],
      ['url', url],
    ])
    if (kind === 'anoncreds')
      suggest(
        `agent creddef create --schema ${flags['did-url'] ? `'${url}'` : made.guid} --author ${author} --name <name>`,
      )
    else
      suggest(
        `agent credential offer --schema ${flags['did-url'] ? `'${url}'` : made.guid} --connection <id> --issuing-did <did> --claim name=value`,
      )
    return answer
  },
})

/** The URL of an AnonCreds schema without its record. Credential definitions name the schema by it. */
async function findSchemaUrl(
  { getAccess, call }: Context,
  guid: string,
  isUnderDidUrl: boolean,
): Promise<string> {
  if (!isUnderDidUrl) return anonCredsSchemaUrl(guid, getAccess().url)
  return (await call('GET /schema-registry/schemas/did-url/{guid}/schema', { path: { guid } })).url
}

function publish({ call }: Context, id: string | undefined, input: PublishInput) {
  if (id === undefined) return call('POST /schema-registry/schemas', input)
  return call('PUT /schema-registry/schemas/{guid}', { path: { guid: id }, ...input })
}

function publishWithDidUrl({ call }: Context, id: string | undefined, input: PublishInput) {
  if (id === undefined) return call('POST /schema-registry/schemas/did-url', input)
  return call('PUT /schema-registry/schemas/did-url/{guid}', { path: { guid: id }, ...input })
}
