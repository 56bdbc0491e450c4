/** The German texts of the pages. */
import type { Texts } from './english.ts'
import { html } from './html.ts'

export const german: Texts = {
  language: 'de',
  locale: 'de-DE',
  quotes: ['„', '“'],
  scan: 'Scannen Sie diesen Code mit Ihrer Wallet.',
  tooLong: 'Der Text ist für einen QR-Code zu lang. Kopieren Sie ihn weiter unten in Ihre Wallet.',
  steps: 'So geht es weiter',
  copy: 'Ist Ihre Wallet auf diesem Gerät, oder hat sie keine Kamera?',
  copyLink: 'Kopieren Sie diesen Link in Ihre Wallet:',
  copyLongLink: 'Falls sie diesen Link nicht annimmt, kopieren Sie den langen:',
  copyText: 'Kopieren Sie diesen Text in Ihre Wallet:',
  longCode: 'Liest Ihre Wallet den Code nicht?',
  longCodeText: 'Dieser größere Code enthält den ganzen Text. Ältere Wallets lesen nur solche Codes.',
  reload: 'Laden Sie die Seite neu, um zu sehen, ob der Link noch offen ist.',

  invitation: {
    connect: {
      kind: 'Einladung zu einer Verbindung',
      title: 'Sie sind zu einer Verbindung eingeladen',
      text: 'Wenn Sie annehmen, können Sie und der Absender einander Nachrichten senden und Nachweise ausstellen oder vorlegen.',
      last: 'Bestätigen Sie die Verbindung, oder lehnen Sie sie ab. Dabei werden keine Ihrer Nachweise weitergegeben.',
    },
    offer: {
      kind: 'Angebot eines Nachweises',
      title: 'Ihnen wird ein Nachweis angeboten',
      text: 'Der Absender bietet Ihnen einen digitalen Nachweis für Ihre Wallet an.',
      last: 'Prüfen Sie, was der Nachweis über Sie aussagt. Nehmen Sie ihn dann an, oder lehnen Sie ab.',
    },
    request: {
      kind: 'Anfrage nach einem Nachweis',
      title: 'Sie werden um einen Nachweis gebeten',
      text: 'Der Absender bittet um Daten aus einem Nachweis in Ihrer Wallet.',
      last: 'Prüfen Sie, welche Daten verlangt werden. Geben Sie sie nur weiter, wenn der Absender sie haben soll.',
    },
    code: 'QR-Code der Einladung',
    purpose: 'Zweck, in den Worten des Absenders:',
    open: 'Öffnen Sie Ihre Wallet-App, und scannen Sie den Code.',
    check: 'Prüfen Sie, was Ihre Wallet über den Absender anzeigt.',
    destination: (host) => html`Ihre Nachrichten gehen an <bdi>${host}</bdi>.`,
    warning:
      'Eine Einladung beweist nicht, von wem sie stammt. Wenn Sie keine erwarten, schließen Sie diese Seite. Durch das Öffnen wird dem Absender nichts gesendet.',
    copyText: 'Oder, falls sie nach dem Text der Einladung fragt:',
    until: (moment) => html`Sie kann bis ${moment} angenommen werden.`,
    expired: 'Diese Einladung ist abgelaufen',
    expiredAt: (moment) => html`Sie ist am ${moment} abgelaufen. Bitten Sie den Absender um eine neue.`,
    details: 'Von wem stammt diese Einladung?',
    from: 'DID der Gegenseite',
    host: 'Ihre Nachrichten gehen an',
    goalCode: 'Code ihres Zwecks',
    id: 'Einladung',
  },

  offer: {
    text: (host) => html`${host} bietet Ihnen einen Nachweis für Ihre Wallet an.`,
    code: 'QR-Code des Angebots',
    check: (host) => html`Prüfen Sie, dass der Nachweis von ${host} kommt.`,
    txCode: 'Geben Sie den Transaktionscode ein, den Ihnen der Aussteller auf einem anderen Weg gibt.',
    warning:
      'Die erste Wallet, die das Angebot öffnet, erhält den Nachweis. Geben Sie diesen Link nicht weiter, und fahren Sie nur fort, wenn Sie ihn erwartet haben.',
    forEveryone:
      'Dieses Angebot gilt für alle und endet nicht. Der Aussteller kann Sie bitten, sich zuerst anzumelden oder einen Nachweis vorzuzeigen.',
    fold: 'Den Code für ein anderes Gerät zeigen',
    get: 'Nachweis abholen',
    delivered:
      'Wer diese Seite hat, kann den Nachweis abholen. Geben Sie ihren Link nicht weiter. Der Knopf zeigt einen Link und einen Code für Ihre Wallet, die zehn Minuten lang gültig sind. Sie können ihn später erneut drücken.',
  },

  didRequest: {
    kind: 'DID-Anfrage',
    title: 'Anfrage nach Ihrer DID',
    named: (name) => html`${name} bittet um Ihre DID`,
    namedTitle: (name) => `${name} bittet um Ihre DID`,
    text: 'Eine DID ist eine Kennung, die Ihre Wallet erzeugt und über die nur Sie verfügen. Der Absender erkennt Sie daran wieder.',
    code: 'QR-Code der DID-Anfrage',
    last: 'Wählen Sie eine DID, oder lassen Sie Ihre Wallet eine neue erzeugen, und bestätigen Sie. Sie können auch ablehnen.',
    warning: html`Den Namen auf dieser Seite hat der Absender gewählt, und niemand hat ihn geprüft. Wenn Sie
    diese Anfrage nicht erwarten, schließen Sie diese Seite. Durch das Öffnen wird dem Absender nichts
    gesendet.`,
  },

  challenge: {
    kind: 'Anmeldung',
    title: 'Anmeldung mit Ihrer DID',
    named: (name) => html`${name} bittet um Ihre Anmeldung`,
    namedTitle: (name) => `${name} bittet um Ihre Anmeldung`,
    text: 'Sie melden sich mit Ihrer DID an. Ihre Wallet signiert die Anfrage, ein Passwort ist nicht nötig.',
    code: 'QR-Code der Anmeldung',
    last: 'Wählen Sie die DID, die Sie dort verwenden, und bestätigen Sie.',
    warning: html`<strong>Fahren Sie nur fort, wenn Sie diese Anmeldung gerade selbst begonnen haben.</strong>
      Wer Ihnen diesen Link geschickt hat, könnte sonst unter Ihrem Namen angemeldet werden. Niemand hat den
      Namen auf dieser Seite geprüft.`,
  },

  session: {
    open: 'Öffnen Sie die Wallet-App, die Ihre DIDs verwaltet, und scannen Sie den Code.',
    check: (host) =>
      html`Prüfen Sie den Namen, den Ihre Wallet anzeigt. Ihre Antwort geht an <bdi>${host}</bdi>.`,
    until: (moment) => html`Dieser Link nimmt eine einzige Antwort an, bis ${moment}.`,
    credential: 'Mit einem Nachweis antworten',
    credentialText:
      'Eine Wallet für OpenID4VP antwortet stattdessen mit einem Ihrer Nachweise. Scannen Sie damit diesen Code. Nur eine Antwort zählt, gleich von welcher Wallet.',
    credentialCode: 'QR-Code der Anfrage nach einem Nachweis',
    copyRequest: 'Kopieren Sie diesen Link in eine Wallet für OpenID4VP:',
  },

  consent: {
    kind: 'Angebot eines Nachweises',
    title: 'Diesen Nachweis in Ihre Wallet aufnehmen?',
    text: (host) => html`${host} bietet Ihnen einen Nachweis an und fragt, ob Ihre Wallet ihn erhalten darf.`,
    credential: 'Nachweis',
    issuerName: 'Der Aussteller nennt sich',
    issuer: 'DID des Ausstellers',
    person: 'Sie sind angemeldet als',
    wallet: 'Ihre Wallet',
    claims: 'Der Nachweis enthält',
    code: 'Code des Ausstellers',
    codeHint:
      'Den Code haben Sie vom Aussteller auf einem anderen Weg erhalten, etwa per Brief oder Telefon.',
    wrong: (guesses) =>
      guesses === 1
        ? 'Dieser Code ist falsch. Sie haben noch einen Versuch.'
        : `Dieser Code ist falsch. Sie haben noch ${guesses} Versuche.`,
    accept: 'Annehmen',
    decline: 'Ablehnen',
    presentation: {
      text: 'Zuerst möchte der Aussteller einen Nachweis aus Ihrer Wallet sehen. Die nächste Seite zeigt, nach welchen Daten er fragt.',
      begin: 'Nachweis vorzeigen',
    },
    warning:
      'Geben Sie den Code nur ein, und nehmen Sie nur an, wenn Sie diese Seite mit Ihrer eigenen Wallet geöffnet haben. Sonst erhält eine andere Person den Nachweis. Der Aussteller fragt Sie nie per Nachricht oder Telefon nach dem Code.',
    refused: {
      title: 'Diese Anfrage kann nicht beantwortet werden',
      text: 'Eine Wallet oder ein Link hat einen Nachweis auf eine Weise angefragt, die der Aussteller nicht annimmt. Sie müssen nichts tun. Wenn Sie in Ihrer Wallet begonnen haben, kehren Sie zu ihr zurück.',
      open: (host) => html`Weiter zu ${host}`,
    },
    lostLogIn: {
      title: 'Beginnen Sie in Ihrer Wallet neu',
      text: 'Diese Anmeldung wurde in einem anderen Browser begonnen oder hat zu lange gedauert. Es wurde nichts ausgestellt. Wenn eine andere Person Ihnen diesen Link gesendet hat, schließen Sie die Seite.',
    },
    notLoggedIn: {
      title: 'Sie erhalten diesen Nachweis jetzt nicht',
      text: 'Sie haben sich nicht angemeldet, die Anmeldung ist fehlgeschlagen, oder der Nachweis ist für eine andere Person. Sie können in Ihrer Wallet neu beginnen, auch mit einem anderen Konto.',
    },
    lostPresentation: {
      title: 'Machen Sie dort weiter, wo Sie begonnen haben',
      text: 'Dieser Nachweis wurde in einem anderen Browser oder auf einem anderen Gerät angefragt. Wenn Sie ihn vorgezeigt haben, kehren Sie zu jener Seite zurück, die von selbst weitergeht. Wenn eine andere Person Ihnen den Link oder den Code gesendet hat, schließen Sie die Seite.',
    },
    notPresented: {
      title: 'Sie erhalten diesen Nachweis jetzt nicht',
      text: 'Ihre Wallet hat keinen Nachweis gesendet, er wurde nicht angenommen, oder der Nachweis ist für eine andere Person. Sie können in Ihrer Wallet neu beginnen.',
    },
  },

  presentation: {
    kind: 'Nachweisanfrage',
    title: 'Zeigen Sie einen Nachweis mit Ihrer Wallet',
    text: 'Sie werden um Daten aus Nachweisen in Ihrer Wallet gebeten. Diese Seite geht von selbst weiter, sobald Ihre Wallet geantwortet hat.',
    whole: 'dass Sie ihn haben, ohne weitere Daten',
    code: 'QR-Code der Nachweisanfrage',
    open: 'Öffnen Sie Ihre Wallet-App, und scannen Sie den Code.',
    check: (host) => html`Prüfen Sie, wer anfragt. Ihre Antwort geht an <bdi>${host}</bdi>.`,
    last: 'Prüfen Sie, welche Daten verlangt werden. Geben Sie sie frei, oder lehnen Sie ab.',
    here: 'Die Wallet auf diesem Gerät öffnen',
    browser: {
      button: 'Eine Wallet in diesem Browser wählen',
      unsupported: 'Dieser Browser kann keine Wallets fragen (Digital Credentials API).',
      aborted:
        'Der Browser hat von keiner Wallet einen Nachweis erhalten. Sie können es noch einmal versuchen.',
      refused:
        'Die prüfende Stelle hat die Antwort Ihrer Wallet nicht angenommen. Sie können es noch einmal versuchen.',
    },
    warning:
      'Fahren Sie nur fort, wenn Sie dies selbst begonnen haben. Hat Ihnen eine andere Person diesen Link geschickt, erhält sie Ihre Daten.',
    verified: {
      title: 'Ihr Nachweis ist gültig',
      text: 'Sie können diese Seite schließen und dort weitermachen, wo Sie begonnen haben.',
    },
    unchecked:
      'Die prüfende Stelle nimmt Nachweise jedes Ausstellers an: Wer Ihren ausgestellt hat, wurde nicht geprüft.',
    failed: {
      title: 'Ihr Nachweis ist nicht gültig',
      text: 'Die prüfende Stelle konnte ihn nicht annehmen. Bitten Sie sie um eine neue Anfrage.',
    },
    declined: {
      title: 'Es wurde kein Nachweis gesendet',
      text: 'Ihre Wallet hat die Anfrage abgelehnt. Bitten Sie um eine neue, wenn Sie einen Nachweis senden möchten.',
    },
    expired: {
      title: 'Diese Anfrage ist abgelaufen',
      text: 'Keine Wallet hat rechtzeitig geantwortet. Bitten Sie um eine neue Anfrage.',
    },
  },

  problem: {
    other: 'Der Link kann nicht angezeigt werden.',
    400: {
      title: 'Dieser Link ist nicht lesbar',
      text: 'Vielleicht fehlt ein Teil. Bitten Sie den Absender um den vollständigen Link.',
    },
    404: {
      title: 'Dieser Link ist unbekannt',
      text: 'Er stammt nicht von diesem Agenten, oder es fehlt ein Teil. Bitten Sie den Absender um den vollständigen Link.',
    },
    410: {
      title: 'Dieser Link ist geschlossen',
      text: 'Er wurde verwendet oder zurückgezogen, oder er ist abgelaufen. Wenn Sie gerade geantwortet haben, sind Sie fertig und können diese Seite schließen. Bitten Sie andernfalls den Absender um einen neuen Link.',
    },
    503: {
      title: 'Zurzeit nicht verfügbar',
      text: 'Ihr Link ist möglicherweise noch gültig. Öffnen Sie ihn später noch einmal.',
    },
  },

  home: {
    kind: 'HTTP-API',
    text: 'Ein Agent für selbstbestimmte Identitäten. Er verwaltet DIDs, Verbindungen und digitale Nachweise für seine Mandanten und tauscht mit anderen Agenten DIDComm-v2-Nachrichten aus. Seine API ist die des Hyperledger Identus Cloud Agent.',
    programs: 'Für Programme',
    reference: (link) => html`<a href="${link}">API-Referenz</a> zum Lesen und Ausprobieren (englisch)`,
    document: (link) =>
      html`<a href="${link}">API-Dokument</a> (OpenAPI 3.1). Mandanten senden ihren Schlüssel als
        <code>apikey</code>.`,
    health: (link) => html`<a href="${link}">Zustand</a> und Version`,
    commands: 'In der Befehlszeile',
    tui: html`<code>agent tui</code> öffnet die Übersicht im Terminal.`,
    doctor: html`<code>agent doctor</code> prüft den Agenten und nennt zu jedem Fehler eine Abhilfe.`,
    help: html`<code>agent --help</code> listet die Befehle auf. Das Handbuch (englisch) steht im Ordner
      <code>docs</code> des Programms.`,
  },

  reference: {
    title: 'API-Referenz',
    heading: 'HTTP-API',
    text: html`Drücken Sie <b lang="en">Authorize</b>, und geben Sie einen Schlüssel ein. Öffnen Sie dann eine
      Operation, füllen Sie ihre Felder aus, und drücken Sie <b lang="en">Execute</b>: Sie wird von diesem
      Agenten ausgeführt. Schlüssel verlassen die Seite nur mit ihren Anfragen, und beim Neuladen werden sie
      vergessen.`,
    apikey: html`<code>apikey</code> ist der Schlüssel eines Mandanten.
      <code>agent daemon start</code> schreibt den der Standard-Wallet in das Profil, und
      <code>agent profile show</code> nennt die Datei des Profils. <code>agent tenant create</code> legt einen
      Mandanten mit einem Schlüssel an.`,
    adminKey: html`<code>x-admin-api-key</code> ist der Schlüssel der Verwaltung, <code>adminToken</code> in
      derselben Datei. Er ist für Wallets, Entitäten und Schlüssel nötig.`,
    document: (link) =>
      html`<a href="${link}">openapi.json</a> ist die Beschreibung (OpenAPI 3.1) für Programme, die Clients
        erzeugen.`,
    noScript: 'Die Referenz benötigt JavaScript. Das API-Dokument oben hat denselben Inhalt.',
  },
}
