import { describeCandidates } from '../../cli/client/candidates.ts'
import { labelled, readNames } from '../../cli/client/names.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { candidatesTable, presentCommands } from '../../cli/format/proof-request.ts'
import { presentationFields, type PresentationRecord } from '../../cli/format/proofs.ts'
import { isMine, nextCommand, openInvitation } from '../../cli/format/states.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { printInvitationAgain } from '../../cli/invitation.ts'
import { printRequestAgain } from '../../cli/oid4vp-request.ts'
import { askedQrFlags, chooseAskedQr } from '../../cli/qr/flags.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Show a presentation record',
  description:
    'For a received request, lists the credentials that satisfy it. Exits with 8 if the verification of the presentation failed.',
  examples: ['agent proof show <id>'],
  args: idOf('presentation record'),
  flags: askedQrFlags(),
  questions: { id: whichRecord('proof') },
  async run(context) {
    const { args, flags, call, print, suggest, isJson, isQuiet } = context
    const qr = chooseAskedQr(flags)
    const record = await call('GET /present-proof/presentations/{presentationId}', {
      path: { presentationId: args.id },
    })
    const names = isJson || isQuiet ? undefined : await readNames(call, [record])
    print(record.presentationId, await labelled(context, presentationFields(record, names)))
    if (record.status === 'RequestReceived' && isMine('proof', record.status, record))
      await suggestCandidates(context, record)
    else suggest(nextCommand('proof', record.status, record.presentationId, record))
    if (!(await printRequestAgain(context, record, qr)))
      await printInvitationAgain(context, record.presentationId, openInvitation(record.status, record), qr)
    if (record.status === 'PresentationVerificationFailed') process.exitCode = 8
    return record
  },
})

async function suggestCandidates(
  { isJson, isQuiet, call, log, width, suggest }: Context,
  { presentationId }: PresentationRecord,
) {
  if (isQuiet || isJson) return
  const found = await call('GET /present-proof/presentations/{presentationId}/candidates', {
    path: { presentationId },
  })
  const { candidates, others } = found
  if (candidates.length > 0) log(`\n${candidatesTable(await describeCandidates(call, candidates), width)}`)
  else if (others.length > 0)
    log(
      `\nNo credential of this wallet answers it:\n${candidatesTable(await describeCandidates(call, others), width)}`,
    )
  suggest(...presentCommands(presentationId, found))
}
