/** `agent schema publish` */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { schemaUrl } from '../_input/schema.ts'
import { readObject } from '../_input/json.ts'

const jsonSchema = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'

export default class SchemaPublish extends AgentCommand {
  static override summary = 'Publish a credential schema in the agent’s registry'
  static override description = 'The schema is JSON Schema, draft 2020-12. Anybody may read it at its URL.'
  static override examples = ['<%= config.bin %> schema publish --name employee --author <did> --schema @employee.json']
  static override flags = {
    name: Flags.string({ required: true, description: 'what the schema is called' }),
    version: Flags.string({ description: 'SemVer', default: '1.0.0' }),
    author: Flags.string({ required: true, description: 'DID of its author, of this wallet' }),
    schema: Flags.string({ required: true, description: 'the JSON Schema: @file.json, @- for standard input, or written out' }),
    description: Flags.string({ description: 'what it is for' }),
    tag: Flags.string({ multiple: true, multipleNonGreedy: true, description: 'a word to find it by' }),
  }

  async run() {
    const { flags } = await this.parse(SchemaPublish)
    const { name, version, author, description, tag: tags = [] } = flags
    const made = await this.call('POST /schema-registry/schemas', {
      body: { name, version, author, description, tags, type: jsonSchema, schema: readObject('schema', flags.schema) },
    })
    this.print(made.guid, [
      ['schema', made.guid],
      ['name', `${made.name} ${made.version}`],
      ['author', made.author],
      ['url', schemaUrl(made.guid, this.access.url)],
    ])
    this.suggest(`agent credential offer --schema ${made.guid} --connection <id> --issuing-did <did> --claim name=value`)
    return made
  }
}
