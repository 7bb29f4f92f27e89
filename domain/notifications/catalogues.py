# ruff: noqa: RUF001 - signs of other scripts
"""The texts of notifications in each language, with the keys of `ENGLISH`. Pure."""

from collections.abc import Mapping

from domain.notifications.model import NotificationKind

ENGLISH: Mapping[str, str] = {
    NotificationKind.WANTED: "Somebody is wanted in a conversation on {instance}.",
    NotificationKind.ASSIGNED: "{actor} assigned a conversation on {instance} to {assignee}.",
    NotificationKind.MENTIONED: "{actor} mentioned you in a note on {instance}.",
    NotificationKind.APPROVAL: "The tool {tool} waits for an approval on {instance}.",
    NotificationKind.UNHEALTHY: "{instance} does not work: {activity} fails. {error}",
    NotificationKind.HEALTHY: "{instance} works again.",
    NotificationKind.BUDGET: "{percent} % of the budget of {subject} for {month} are spent.",
    "you": "you",
    "team": "the team {team}",
    "somebody": "Somebody",
    "several": "{count} notifications",
    "footer": "You get this mail by your settings for notifications.",
}
GERMAN: Mapping[str, str] = {
    NotificationKind.WANTED: "In einer Unterhaltung auf {instance} wird jemand gebraucht.",
    NotificationKind.ASSIGNED: "{actor} hat eine Unterhaltung auf {instance} zugewiesen: {assignee}.",
    NotificationKind.MENTIONED: "{actor} hat Sie in einer Notiz auf {instance} erwähnt.",
    NotificationKind.APPROVAL: "Das Werkzeug {tool} wartet auf {instance} auf eine Freigabe.",
    NotificationKind.UNHEALTHY: "{instance} funktioniert nicht: {activity} schlägt fehl. {error}",
    NotificationKind.HEALTHY: "{instance} funktioniert wieder.",
    NotificationKind.BUDGET: "{percent} % des Budgets von {subject} für {month} sind verbraucht.",
    "you": "Ihnen",
    "team": "dem Team {team}",
    "somebody": "Jemand",
    "several": "{count} Benachrichtigungen",
    "footer": "Sie erhalten diese E-Mail nach Ihren Einstellungen für Benachrichtigungen.",
}
FRENCH: Mapping[str, str] = {
    NotificationKind.WANTED: "Une personne est demandée dans une conversation sur {instance}.",
    NotificationKind.ASSIGNED: "{actor} a attribué une conversation sur {instance} : {assignee}.",
    NotificationKind.MENTIONED: "{actor} vous a mentionné dans une note sur {instance}.",
    NotificationKind.APPROVAL: "L'outil {tool} attend une approbation sur {instance}.",
    NotificationKind.UNHEALTHY: "{instance} ne fonctionne pas : {activity} échoue. {error}",
    NotificationKind.HEALTHY: "{instance} fonctionne de nouveau.",
    NotificationKind.BUDGET: "{percent} % du budget de {subject} pour {month} sont dépensés.",
    "you": "à vous",
    "team": "à l'équipe {team}",
    "somebody": "Quelqu'un",
    "several": "{count} notifications",
    "footer": "Vous recevez ce message selon vos réglages de notifications.",
}
SPANISH: Mapping[str, str] = {
    NotificationKind.WANTED: "Se necesita a alguien en una conversación de {instance}.",
    NotificationKind.ASSIGNED: "{actor} asignó una conversación de {instance}: {assignee}.",
    NotificationKind.MENTIONED: "{actor} te mencionó en una nota de {instance}.",
    NotificationKind.APPROVAL: "La herramienta {tool} espera una aprobación en {instance}.",
    NotificationKind.UNHEALTHY: "{instance} no funciona: {activity} falla. {error}",
    NotificationKind.HEALTHY: "{instance} vuelve a funcionar.",
    NotificationKind.BUDGET: "Se ha gastado el {percent} % del presupuesto de {subject} para {month}.",
    "you": "a ti",
    "team": "al equipo {team}",
    "somebody": "Alguien",
    "several": "{count} notificaciones",
    "footer": "Recibes este correo según tu configuración de notificaciones.",
}
PORTUGUESE: Mapping[str, str] = {
    NotificationKind.WANTED: "Alguém é necessário numa conversa em {instance}.",
    NotificationKind.ASSIGNED: "{actor} atribuiu uma conversa em {instance}: {assignee}.",
    NotificationKind.MENTIONED: "{actor} mencionou você numa nota em {instance}.",
    NotificationKind.APPROVAL: "A ferramenta {tool} aguarda uma aprovação em {instance}.",
    NotificationKind.UNHEALTHY: "{instance} não funciona: {activity} falha. {error}",
    NotificationKind.HEALTHY: "{instance} voltou a funcionar.",
    NotificationKind.BUDGET: "{percent} % do orçamento de {subject} para {month} foram gastos.",
    "you": "a você",
    "team": "à equipe {team}",
    "somebody": "Alguém",
    "several": "{count} notificações",
    "footer": "Você recebe este e-mail de acordo com as suas configurações de notificações.",
}
ARABIC: Mapping[str, str] = {
    NotificationKind.WANTED: "هناك حاجة إلى شخص في محادثة على {instance}.",
    NotificationKind.ASSIGNED: "أسند {actor} محادثة على {instance}: {assignee}.",
    NotificationKind.MENTIONED: "ذكرك {actor} في ملاحظة على {instance}.",
    NotificationKind.APPROVAL: "الأداة {tool} تنتظر موافقة على {instance}.",
    NotificationKind.UNHEALTHY: "لا يعمل {instance}: فشل {activity}. {error}",
    NotificationKind.HEALTHY: "عاد {instance} إلى العمل.",
    NotificationKind.BUDGET: "أُنفق {percent} % من ميزانية {subject} لشهر {month}.",
    "you": "إليك",
    "team": "إلى الفريق {team}",
    "somebody": "شخص ما",
    "several": "{count} إشعارات",
    "footer": "تصلك هذه الرسالة وفق إعدادات الإشعارات لديك.",
}
JAPANESE: Mapping[str, str] = {
    NotificationKind.WANTED: "{instance} の会話で担当者が求められています。",
    NotificationKind.ASSIGNED: "{actor} が {instance} の会話を割り当てました: {assignee}",
    NotificationKind.MENTIONED: "{actor} が {instance} のメモであなたに言及しました。",
    NotificationKind.APPROVAL: "{instance} でツール {tool} が承認を待っています。",
    NotificationKind.UNHEALTHY: "{instance} が動作していません: {activity} に失敗しました。{error}",
    NotificationKind.HEALTHY: "{instance} は再び動作しています。",
    NotificationKind.BUDGET: "{month} の {subject} の予算の {percent} % が使われました。",
    "you": "あなた",
    "team": "チーム {team}",
    "somebody": "誰か",
    "several": "{count} 件の通知",
    "footer": "このメールは通知の設定に従って送られています。",
}
CHINESE: Mapping[str, str] = {
    NotificationKind.WANTED: "{instance} 上的一个会话需要人工处理。",
    NotificationKind.ASSIGNED: "{actor} 分配了 {instance} 上的一个会话：{assignee}。",
    NotificationKind.MENTIONED: "{actor} 在 {instance} 的备注中提到了您。",
    NotificationKind.APPROVAL: "{instance} 上的工具 {tool} 正在等待批准。",
    NotificationKind.UNHEALTHY: "{instance} 无法工作：{activity} 失败。{error}",
    NotificationKind.HEALTHY: "{instance} 已恢复工作。",
    NotificationKind.BUDGET: "{subject} 在 {month} 的预算已用去 {percent} %。",
    "you": "您",
    "team": "团队 {team}",
    "somebody": "有人",
    "several": "{count} 条通知",
    "footer": "您收到此邮件是因为您的通知设置。",
}
CATALOGUES: Mapping[str, Mapping[str, str]] = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "ar": ARABIC,
    "ja": JAPANESE,
    "zh": CHINESE,
}
