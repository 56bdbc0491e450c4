/** `agent schema show` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { didUrlFlag, openEnvelope, openSchema, publicUrl } from '../../cli/input/registry.ts'

export default class SchemaShow extends AgentCommand {
  static override summary = 'Show a credential schema'
  static override examples = [
    '<%= config.bin %> schema show <guid>',
    '<%= config.bin %> schema show <guid> --raw > employee.json',
    '<%= config.bin %> schema show <guid> --did-url',
  ]
  static override args = {
    guid: Args.string({ required: true, ignoreStdin: true, description: 'guid of the schema' }),
  }
  static override flags = {
    raw: Flags.boolean({ description: 'without the registry’s record around it' }),
    'did-url': didUrlFlag,
  }

  async run() {
    const { args, flags } = await this.parse(SchemaShow)
    const path = { guid: args.guid }
    if (flags.raw) {
      if (flags['did-url']) {
        const envelope = await this.call('GET /schema-registry/schemas/did-url/{guid}/schema', { path })
        this.log(safeJson(openEnvelope(envelope)))
        return envelope
      }
      const raw = await this.call('GET /schema-registry/schemas/{guid}/schema', { path })
      this.log(safeJson(raw))
      return raw
    }
    const answer = flags['did-url']
      ? await this.call('GET /schema-registry/schemas/did-url/{guid}', { path })
      : await this.call('GET /schema-registry/schemas/{guid}', { path })
    const shown = openSchema(answer)
    this.print(shown.guid, [
      ['schema', shown.guid],
      ['id', shown.id],
      ['name', `${shown.name} ${shown.version}`],
      ['description', shown.description || undefined],
      ['author', shown.author],
      ['authored', shown.authored],
      ['signed by', shown.proof?.verificationMethod],
      ['tags', shown.tags.join(' ') || undefined],
      ['url', publicUrl(answer, this.access.url)],
    ])
    if (!this.isQuiet) this.log(`\n${safeJson(shown.schema)}`)
    return answer
  }
}
