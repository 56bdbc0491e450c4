import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { safeJson } from '../../cli/format/text.ts'
import { argument } from '../../cli/input/arguments.ts'
import { didUrlFlag, type Envelope, openEnvelope, openSchema, publicUrl } from '../../cli/input/registry.ts'

export default defineCommand({
  summary: 'Show a credential schema',
  examples: [
    'agent schema show <guid>',
    'agent schema show <guid> --raw > employee.json',
    'agent schema show <guid> --did-url',
  ],
  args: {
    guid: argument('guid of the schema'),
  },
  flags: {
    raw: Flags.boolean({ description: 'print the content only, without its registry record' }),
    'did-url': didUrlFlag,
  },
  async run({ args, flags, call, log, print, getAccess, isQuiet }) {
    const path = { guid: args.guid }
    if (flags.raw) {
      const raw = flags['did-url']
        ? await call('GET /schema-registry/schemas/did-url/{guid}/schema', { path })
        : await call('GET /schema-registry/schemas/{guid}/schema', { path })
      log(safeJson(flags['did-url'] ? openEnvelope(raw as Envelope) : raw))
      return raw
    }
    const answer = flags['did-url']
      ? await call('GET /schema-registry/schemas/did-url/{guid}', { path })
      : await call('GET /schema-registry/schemas/{guid}', { path })
    const shown = openSchema(answer)
    print(shown.guid, [
      ['schema', shown.guid],
      ['id', shown.id],
      ['name', `${shown.name} ${shown.version}`],
      ['description', shown.description || undefined],
      ['author', shown.author],
      ['authored', shown.authored],
      ['signed by', shown.proof?.verificationMethod],
      ['tags', shown.tags.join(' ') || undefined],
      ['url', publicUrl(answer, getAccess().url)],
    ])
    if (!isQuiet) log(`\n${safeJson(shown.schema)}`)
    return answer
  },
})
