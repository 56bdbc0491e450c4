import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { connectionFields } from '../../cli/format/records.ts'
import { connectionArgument } from '../../cli/input/arguments.ts'
import { acceptanceFlags, readAcceptance } from '../../cli/input/credential.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Change the label of a connection, or its rule for accepting offers automatically',
  description:
    '--accept-offers replaces the previous rule and applies to future offers. Offers that already wait for an answer keep waiting.',
  examples: [
    'agent connection update <id> --label Acme',
    'agent connection update <id> --accept-offers --subject did:prism:…',
    'agent connection update <id> --accept-offers --subject did:prism:… --key-id auth-1 --format sdjwt',
    'agent connection update <id> --accept-offers --subject did:prism:… --trust-issuer did:prism:…',
    'agent connection update <id> --no-accept-offers',
  ],
  args: { id: connectionArgument },
  flags: {
    label: Flags.string({ description: 'local name of the connection; it is not sent' }),
    'accept-offers': Flags.boolean({
      allowNo: true,
      description: 'accept offers over this connection automatically, or no longer',
    }),
    ...acceptanceFlags,
  },
  questions: { id: whichRecord('connection') },
  async run({ args, flags, call, print }) {
    const automaticAcceptance = readAcceptance(flags)
    if (!automaticAcceptance && flags.label === undefined)
      throw new UsageError(
        'There is nothing to change: give --label, --accept-offers with --subject, or --no-accept-offers.',
      )
    const changed = await call('PATCH /connections/{connectionId}', {
      path: { connectionId: args.id },
      body: { label: flags.label, automaticAcceptance },
    })
    print(changed.connectionId, connectionFields(changed))
    return changed
  },
})
