/** `agent creddef show` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { definitionFields, openDefinition, didUrlFlag, openEnvelope } from '../../cli/input/registry.ts'

export default class CreddefShow extends AgentCommand {
  static override summary = 'Show a credential definition'
  static override examples = [
    '<%= config.bin %> creddef show <guid>',
    '<%= config.bin %> creddef show <guid> --raw > definition.json',
    '<%= config.bin %> creddef show <guid> --did-url',
  ]
  static override args = {
    guid: Args.string({ required: true, ignoreStdin: true, description: 'guid of the definition' }),
  }
  static override flags = {
    raw: Flags.boolean({ description: 'without the registry’s record around it' }),
    'did-url': didUrlFlag,
  }

  async run() {
    const { args, flags } = await this.parse(CreddefShow)
    const path = { guid: args.guid }
    if (flags.raw) {
      if (flags['did-url']) {
        const envelope = await this.call(
          'GET /credential-definition-registry/definitions/did-url/{guid}/definition',
          { path },
        )
        this.log(safeJson(openEnvelope(envelope)))
        return envelope
      }
      const raw = await this.call('GET /credential-definition-registry/definitions/{guid}/definition', {
        path,
      })
      this.log(safeJson(raw))
      return raw
    }
    const answer = flags['did-url']
      ? await this.call('GET /credential-definition-registry/definitions/did-url/{guid}', { path })
      : await this.call('GET /credential-definition-registry/definitions/{guid}', { path })
    const shown = openDefinition(answer)
    const attributes = Object.keys(shown.definition?.value.primary.r ?? {}).filter(
      (name) => name !== 'master_secret',
    )
    const url = 'resource' in answer ? answer.url : `${this.access.url}${shown.self}/definition`
    this.print(shown.guid, [
      ...definitionFields(shown),
      ['attributes', attributes.join(' ') || undefined],
      ['authored', shown.authored],
      ['url', url],
    ])
    return answer
  }
}
