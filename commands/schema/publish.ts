/** `agent schema publish` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import type { Input } from '../../cli/client/api.ts'
import { didUrlFlag, openSchema, publicUrl, anonCredsSchemaUrl, kinds } from '../../cli/input/registry.ts'
import { readObject } from '../../cli/input/files.ts'

type Publishing = Input<'POST /schema-registry/schemas'>

export default class SchemaPublish extends AgentCommand {
  static override summary = 'Publish a credential schema in the agent’s registry, or a new version of one'
  static override description =
    'The schema is JSON Schema, draft 2020-12; with --kind json-ld it has a @context as well. With --anoncreds it is an AnonCreds schema, which is a list of attributes. Anybody may read it at its URL.'
  static override examples = [
    '<%= config.bin %> schema publish --name employee --author <did> --schema @employee.json',
    '<%= config.bin %> schema publish --id <id> --version 1.1.0 --name employee --author <did> --schema @employee.json --sign',
    '<%= config.bin %> schema publish --anoncreds --name "id card" --author <did> --attribute name --attribute age',
  ]
  static override flags = {
    id: Flags.string({ description: 'publish a new version of this schema: its id, not its guid' }),
    name: Flags.string({ required: true, description: 'what the schema is called' }),
    version: Flags.string({ description: 'SemVer; greater than any before', default: '1.0.0' }),
    author: Flags.string({ required: true, description: 'DID of its author, of this wallet' }),
    kind: Flags.option({
      options: Object.keys(kinds) as (keyof typeof kinds)[],
      default: 'json',
      description: 'what kind of schema it is',
    })(),
    anoncreds: Flags.boolean({ exclusive: ['kind'], description: 'as --kind anoncreds' }),
    schema: Flags.string({
      exactlyOne: ['schema', 'attribute'],
      description: 'the schema: @file.json, @- for standard input, or written out',
    }),
    attribute: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['anoncreds'],
      description: 'an attribute of an AnonCreds schema, in the place of --schema',
    }),
    description: Flags.string({ description: 'what it is for' }),
    tag: Flags.string({ multiple: true, multipleNonGreedy: true, description: 'a word to find it by' }),
    sign: Flags.boolean({ description: 'sign it with the author’s assertion key' }),
    'did-url': didUrlFlag,
  }

  async run() {
    const { flags } = await this.parse(SchemaPublish)
    const { id, name, version, author, description, attribute, tag: tags = [], sign } = flags
    const kind = flags.anoncreds ? 'anoncreds' : flags.kind
    const schema = attribute
      ? { name, version, attrNames: attribute, issuerId: author }
      : readObject('schema', flags.schema!)
    const call = {
      ...(sign && { query: { sign: 'true' as const } }),
      body: { name, version, author, description, tags, type: kinds[kind], schema },
    }
    const answer = flags['did-url'] ? await this.#underDidUrl(id, call) : await this.#publish(id, call)
    const made = openSchema(answer)
    const url =
      kind === 'anoncreds'
        ? await this.#aloneAt(made.guid, flags['did-url'])
        : publicUrl(answer, this.access.url)
    this.print(made.guid, [
      ['schema', made.guid],
      ['id', made.id],
      ['name', `${made.name} ${made.version}`],
      ['author', made.author],
      ['signed by', made.proof?.verificationMethod],
      ['url', url],
    ])
    if (kind === 'anoncreds')
      this.suggest(
        `agent creddef create --schema ${flags['did-url'] ? `'${url}'` : made.guid} --author ${author} --name <name>`,
      )
    else
      this.suggest(
        `agent credential offer --schema ${flags['did-url'] ? `'${url}'` : made.guid} --connection <id> --issuing-did <did> --claim name=value`,
      )
    return answer
  }

  /** Where others find an AnonCreds schema alone, which is its name in definitions. */
  async #aloneAt(guid: string, isUnderDidUrl: boolean): Promise<string> {
    if (!isUnderDidUrl) return anonCredsSchemaUrl(guid, this.access.url)
    return (await this.call('GET /schema-registry/schemas/did-url/{guid}/schema', { path: { guid } })).url
  }

  #publish(id: string | undefined, call: Publishing) {
    if (id === undefined) return this.call('POST /schema-registry/schemas', call)
    return this.call('PUT /schema-registry/schemas/{guid}', { path: { guid: id }, ...call })
  }

  #underDidUrl(id: string | undefined, call: Publishing) {
    if (id === undefined) return this.call('POST /schema-registry/schemas/did-url', call)
    return this.call('PUT /schema-registry/schemas/did-url/{guid}', { path: { guid: id }, ...call })
  }
}
