/** `agent schema show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { safeJson } from '../_format/safe.ts'
import { schemaUrl } from '../_input/schema.ts'

export default class SchemaShow extends AgentCommand {
  static override summary = 'Show a credential schema'
  static override args = { guid: Args.string({ required: true, ignoreStdin: true, description: 'guid of the schema' }) }

  async run() {
    const { args } = await this.parse(SchemaShow)
    const shown = await this.call('GET /schema-registry/schemas/{guid}', { path: { guid: args.guid } })
    this.print(shown.guid, [
      ['schema', shown.guid],
      ['id', shown.id],
      ['name', `${shown.name} ${shown.version}`],
      ['description', shown.description || undefined],
      ['author', shown.author],
      ['authored', shown.authored],
      ['signed by', shown.proof?.verificationMethod],
      ['tags', shown.tags.join(' ') || undefined],
      ['url', schemaUrl(shown.guid, this.access.url)],
    ])
    if (!this.isQuiet) this.log(`\n${safeJson(shown.schema)}`)
    return shown
  }
}
