/**
 * Units of systemd (systemd.unit(5), systemd.service(5), systemd.exec(5)).
 *
 * Values are quoted as systemd reads them: `%` begins a specifier everywhere, `$` a variable in the arguments
 * of a command, and a backslash an escape sequence in quotes.
 */
import { type Installed, type ServicePlan, variablesOf } from './plan.ts'

/** The section by which units of this program are found again. systemd ignores sections that begin with `X-`. */
const section = '[X-Identity-Agent]'

/** A path or text without quotes. */
const plain = (text: string) => text.replaceAll('%', '%%')
const quoted = (text: string) => `"${plain(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const argument = (text: string) => quoted(text).replaceAll('$', () => '$$')

/** The program of a command. systemd accepts no quotes and no backslashes in its path, but in arguments. */
const executable = (path: string) => (/["'\\]/.test(path) ? ['/usr/bin/env', argument(path)] : [quoted(path)])

/** What a unit says that this program has written; undefined for other units. */
export function readOwnUnit(text: string): Installed | undefined {
  const own = text.slice(Math.max(text.indexOf(section), 0))
  const [, profile] = /^Profile=(.+)$/m.exec(own) ?? []
  const [, dataDir] = /^DataFolder=(.+)$/m.exec(own) ?? []
  const [, variables = ''] = /^Variables=(.+)$/m.exec(own) ?? []
  if (!own.startsWith(section) || !profile || !dataDir) return undefined
  return { profile, dataDir, variables: variables.split(' ').filter(Boolean) }
}

/** The data folder that a unit names: a path, or the state folder of a system service. */
export function unitDataDir({ name, dataDir }: ServicePlan): string {
  return dataDir ?? `/var/lib/${name}/data`
}

/**
 * Writes a unit. `canNotify` says whether systemd-notify is installed, by which the daemon reports that it is
 * ready.
 */
export function renderUnit(plan: ServicePlan, canNotify: boolean): string {
  const { profile, name, isSystem, command, settings } = plan
  const [node, daemon] = command
  const edit = `systemctl ${isSystem ? '' : '--user '}edit ${name}`
  const args = Object.entries({ AGENT_PROFILE: profile, ...settings }).map(
    ([key, value]) => `${key}=${value}`,
  )
  return `# Written by \`agent daemon install\`, which also replaces it. For changes of your own: ${edit}
[Unit]
Description=${plain(`identity-agent, profile ${profile}`)}
${isSystem ? 'Wants=network-online.target\nAfter=network-online.target\n' : ''}StartLimitIntervalSec=5min
StartLimitBurst=5

[Service]
${canNotify ? '# The daemon runs systemd-notify when it is ready, and when it stops.\nType=notify\nNotifyAccess=all' : 'Type=exec'}
ExecStart=${[...executable(node), argument(daemon), ...args.map(argument)].join(' ')}
${environmentOf(plan)}
# 2: the configuration is not valid. 4: the master key is not the folder's. Another start would not help.
Restart=on-failure
RestartSec=2s
RestartPreventExitStatus=2 4
# Upgrades migrate the databases before the daemon is ready.
TimeoutStartSec=10min
TimeoutStopSec=30s
KillMode=mixed

# Connections, wallets and streams are open files.
LimitNOFILE=65536
MemoryMax=2G
TasksMax=256
# Keys are in memory: no core dumps, no swap.
LimitCORE=0
MemorySwapMax=0
UMask=0077
${hardening}
${isSystem ? systemHardening(plan) : ''}
[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}

${section}
Profile=${profile}
DataFolder=${unitDataDir(plan)}
Variables=${variablesOf(plan).join(' ')}
`
}

function environmentOf({ name, isSystem, dataDir, environment, secrets }: ServicePlan): string {
  const folders = isSystem
    ? [
        `Environment=AGENT_CONFIG_DIR=%S/${name}/config`,
        ...(dataDir === undefined ? [`Environment=AGENT_DATA_DIR=%S/${name}/data`] : []),
        '# More settings, one NAME=value a line.',
        `EnvironmentFile=-/etc/${name}/environment`,
      ]
    : []
  const memory = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }
  const given = Object.entries({ ...memory, ...environment }).map(
    ([key, value]) => `Environment=${quoted(`${key}=${value}`)}`,
  )
  // Only the service reads the copies, in memory that is not swapped.
  const credentials = secrets.flatMap(({ variable, path }) => [
    `LoadCredential=${credentialName(variable)}:${plain(path)}`,
    `Environment=${variable}=%d/${credentialName(variable)}`,
  ])
  return [...folders, ...given, ...credentials].join('\n')
}

/** `ADMIN_TOKEN_FILE` is the credential `admin-token`. */
function credentialName(variable: string): string {
  return variable
    .replace(/_FILE$/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

/** Restrictions that need no privileges. Refused system calls fail with EPERM: Node.js does without them. */
const hardening = `
NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
# Netlink lists the addresses of this machine, Unix sockets reach systemd-notify.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @keyring @memlock
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute=yes is impossible: V8 compiles JavaScript into memory that it then executes.
`

/** Restrictions that only the service manager of the machine can set. */
function systemHardening({ name, runAs, dataDir }: ServicePlan): string {
  const user = runAs === undefined ? 'DynamicUser=yes' : `User=${runAs}`
  return `${user}
StateDirectory=${name}
StateDirectoryMode=0700
${dataDir === undefined ? '' : `ReadWritePaths=${quoted(dataDir)}\n`}ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateIPC=yes
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RemoveIPC=yes
CapabilityBoundingSet=
AmbientCapabilities=
DevicePolicy=closed
`
}
