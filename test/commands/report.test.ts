import { describe, expect, test } from 'vitest'
import { readCommands } from '../../build/docs/manifest.ts'
import { exitCodeOf, renderReport, toReport } from '../../cli/errors/report.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { DaemonUnreachable, ProblemError } from '../../daemon/client/client.ts'
import { problems, type ProblemType } from '../../src/foundation/problem.ts'
import { StartError } from '../../src/foundation/start-error.ts'

const problem = (type: ProblemType, detail = 'because') =>
  new ProblemError({ status: problems[type], type, title: 'Title', detail })

describe('the exit code of a problem', () => {
  // prettier-ignore
  test.each<[ProblemType, number]>([
    ['BadRequest',                                                    2],
    ['error:RequestBodyDecodingFailure',                              2],
    ['error:CredentialSchemaError:CredentialSchemaValidationError',   2],
    ['NotFound',                                                      3],
    ['error:ResourcePathNotFound',                                    3],
    ['error:CredentialServiceError:RecordNotFound',                   3],
    ['error:DIDResolution:deactivated',                               3],
    ['error:AuthenticationError:InvalidCredentials',                  4],
    ['error:AuthenticationError:AdminApiKeyAuthenticationError',      4],
    ['error:AuthenticationError:InvalidRole',                         4],
    ['error:CredentialServiceError:InvalidStateForOperation',         5],
    ['error:PresentationError:InvalidFlowStateError',                 5],
    ['error:ConnectionServiceError:InvitationAlreadyReceived',        5],
    ['error:ConnectionServiceError:InvitationExpired',                5],
    ['error:EntityServiceError:EntityAlreadyExists',                  5],
    ['error:WalletManagementServiceError:DuplicatedWalletSeed',       5],
    ['error:AuthenticationRepositoryError:AuthenticationCompromised', 5],
    ['Conflict',                                                      5],
    ['Not Allowed',                                                   5],
    ['error:PresentationError:InvalidPresentation',                   8],
    ['error:CredentialServiceError:InvalidCredentialIssue',           8],
    ['error:InternalServerError',                                     1],
  ])('%s is %i', (type, exitCode) => {
    expect(exitCodeOf({ status: problems[type], type })).toBe(exitCode)
  })

  test.each(Object.entries(problems))('%s has its exit code', (type, status) => {
    expect([1, 2, 3, 4, 5, 6, 8]).toContain(exitCodeOf({ status, type }))
  })

  test('depends on the status for unknown types', () => {
    const codes = [400, 401, 403, 404, 408, 409, 410, 422, 500, 502, 504].map((status) =>
      exitCodeOf({ status, type: 'about:blank' }),
    )
    expect(codes).toEqual([2, 4, 4, 3, 6, 5, 3, 2, 1, 1, 6])
  })
})

describe('an error report', () => {
  test('of a problem has the event, the reason and the remedy', () => {
    const report = toReport(
      problem('error:CredentialServiceError:RecordNotFound', 'There is no record 1.'),
      'credential:show',
    )
    expect(report).toMatchObject({
      code: 'error:CredentialServiceError:RecordNotFound',
      status: 404,
      exitCode: 3,
    })
    expect(renderReport(report)).toBe('Error: Title\n  There is no record 1.\n  Try: agent credential list')
  })

  test.each<[ProblemType, string, string]>([
    ['error:ConnectionServiceError:RecordIdNotFound', 'credential:offer', 'agent connection list'],
    ['error:PresentationError:IssuedCredentialNotFoundError', 'proof:present', 'agent credential list'],
    ['error:CredentialServiceError:DIDNotFoundInWallet', 'credential:accept', 'agent did list'],
    [
      'error:CredentialServiceError:InvalidStateForOperation',
      'credential:issue',
      'agent credential show <id>',
    ],
    [
      'error:ConnectionServiceError:InvalidStateForOperation',
      'credential:offer',
      'agent connection show <id>',
    ],
    ['BadRequest', 'webhook:add', 'agent webhook add --help'],
    ['error:CredentialServiceError:RecordNotFound', 'dcql:from', 'agent credential list'],
    ['error:AuthenticationError:JwtAuthenticationError', 'connection:list', 'agent login'],
  ])('of %s in %s suggests %j', (type, command, hint) => {
    expect(toReport(problem(type), command).hint).toBe(hint)
  })

  test('of a rejected key names the key that the command needs', () => {
    const refused = problem('error:AuthenticationError:InvalidCredentials')
    expect(toReport(refused, 'connection:list').hint).toContain('AGENT_API_KEY')
    expect(toReport(refused, 'tenant:list').hint).toContain('AGENT_ADMIN_KEY')
  })

  test('of what was not found suggests a command that exists', () => {
    const ids = readCommands().map(({ id }) => id)
    const known = ids.map((id) => `agent ${id.replaceAll(':', ' ')}`)
    for (const id of ids) {
      const { hint } = toReport(problem('NotFound'), id)
      if (hint !== undefined)
        expect([hint, id]).toEqual([expect.toBeOneOf([...known, 'agent explain NotFound']), id])
    }
  })

  test('of a signed-in person without a wallet, or with several, names the way out', () => {
    const refused = (detail: string, type: ProblemType = 'error:AuthenticationError:ResourceNotPermitted') =>
      toReport(problem(type, detail), 'connection:list').hint
    expect(refused('No wallet permissions found. Ask …')).toBe('agent wallet create <name>')
    expect(refused('The subject of the token has 2 wallets. …')).toContain('agent login --wallet <id>')
    expect(
      refused('… or a bearer token of the OpenID provider.', 'error:AuthenticationError:InvalidCredentials'),
    ).toContain('agent login')
  })

  test('of an unreachable daemon (7) suggests starting a local one', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    expect(toReport(new DaemonUnreachable('http://127.0.0.1:8085', { cause }), 'wallet:list')).toMatchObject({
      title: 'No daemon answers at http://127.0.0.1:8085 (nothing listens there)',
      hint: 'agent daemon start',
      exitCode: 7,
    })
    expect(toReport(new DaemonUnreachable('https://agent.example'), 'wallet:list').hint).toContain('--url')
  })

  test('of a daemon timeout is 6', () => {
    const cause = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    expect(toReport(new DaemonUnreachable('http://127.0.0.1:8085', { cause }), 'wallet:list').exitCode).toBe(
      6,
    )
  })

  test('of a CommandError keeps its exit code and hint', () => {
    expect(toReport(new UsageError('no', 'agent x'), 'did:create')).toMatchObject({
      exitCode: 2,
      hint: 'agent x',
    })
    expect(toReport(new UsageError('no'), 'did:create')).toMatchObject({
      exitCode: 2,
      hint: 'agent did create --help',
    })
    expect(toReport(new CommandError('no', 6), 'daemon:stop').exitCode).toBe(6)
    expect(toReport(new StartError('no', 5), 'daemon:start').exitCode).toBe(5)
  })

  test('of any other error is 1', () => {
    expect(toReport(new TypeError('x is not a function'), 'did:create')).toMatchObject({
      code: 'Bug',
      exitCode: 1,
    })
    expect(toReport('thrown text', 'did:create').exitCode).toBe(1)
  })

  test('breaks prose for a terminal, and no line that fits it exactly, such as a row of a table', () => {
    const row = 'CREDENTIAL  WHY NOT'
    const report = { code: '', title: `No credential fits the request:\n\n${row}`, exitCode: 3 }
    expect(renderReport(report, row.length).split('\n')).toEqual([
      'Error: No',
      'credential fits the',
      'request:',
      '',
      row,
    ])
    const hint = 'give a key: AGENT_API_KEY, or --api-key-file'
    expect(renderReport({ ...report, title: 'No key', hint }, 30)).toContain('  Try: give a key:\n')
  })

  test('contains no control characters', () => {
    const text = renderReport(
      toReport(problem('BadRequest', 'label \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e!'), 'did:create'),
    )
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })
})
