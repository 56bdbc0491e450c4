import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { safeJson } from '../../cli/format/text.ts'
import { argument } from '../../cli/input/arguments.ts'
import {
  definitionFields,
  didUrlFlag,
  type Envelope,
  openDefinition,
  openEnvelope,
} from '../../cli/input/registry.ts'

export default defineCommand({
  summary: 'Show a credential definition',
  examples: [
    'agent creddef show <guid>',
    'agent creddef show <guid> --raw > definition.json',
    'agent creddef show <guid> --did-url',
  ],
  args: {
    guid: argument('guid of the definition'),
  },
  flags: {
    raw: Flags.boolean({ description: 'print the content only, without its registry record' }),
    'did-url': didUrlFlag,
  },
  async run({ args, flags, call, log, getAccess, print }) {
    const path = { guid: args.guid }
    if (flags.raw) {
      const raw = flags['did-url']
        ? await call('GET /credential-definition-registry/definitions/did-url/{guid}/definition', { path })
        : await call('GET /credential-definition-registry/definitions/{guid}/definition', { path })
      log(safeJson(flags['did-url'] ? openEnvelope(raw as Envelope) : raw))
      return raw
    }
    const answer = flags['did-url']
      ? await call('GET /credential-definition-registry/definitions/did-url/{guid}', { path })
      : await call('GET /credential-definition-registry/definitions/{guid}', { path })
    const shown = openDefinition(answer)
    const attributes = Object.keys(shown.definition?.value.primary.r ?? {}).filter(
      (name) => name !== 'master_secret',
    )
    const url = 'resource' in answer ? answer.url : `${getAccess().url}${shown.self}/definition`
    print(shown.guid, [
      ...definitionFields(shown),
      ['attributes', attributes.join(' ') || undefined],
      ['authored', shown.authored],
      ['url', url],
    ])
    return answer
  },
})
