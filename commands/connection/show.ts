import { defineCommand } from '../../cli/define-command.ts'
import { connectionFields } from '../../cli/format/records.ts'
import { nextCommand, openInvitation } from '../../cli/format/states.ts'
import { connectionArgument } from '../../cli/input/arguments.ts'
import { printInvitationAgain } from '../../cli/invitation.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/qr/flags.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Show a connection',
  examples: ['agent connection show <id>'],
  args: { id: connectionArgument },
  flags: askedQrFlags(),
  questions: { id: whichRecord('connection') },
  async run(context) {
    const { args, flags, call, print, suggest } = context
    const qr = chooseAskedQr(flags)
    const connection = await call('GET /connections/{connectionId}', { path: { connectionId: args.id } })
    const { connectionId, state } = connection
    print(connectionId, connectionFields(connection))
    suggest(nextCommand('connection', state, connectionId, connection))
    await printInvitationAgain(context, connectionId, openInvitation(state, connection), qr)
    return connection
  },
})
