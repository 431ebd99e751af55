import type { WidgetLocale } from '@causeway/protocol';

/** What the widget writes to its customers, in the language they chose there. Plain text, and nothing that opens anything. */
interface MailText {
  readonly subject: string;
  readonly text: string;
}

interface MailTexts {
  readonly code: (partner: string, code: string) => MailText;
  /** `url` is null where the customer came from the partner’s own server: that is where it goes on. */
  readonly order: (partner: string, orderId: string, url: string | null) => MailText;
}

const lines = (...paragraphs: readonly string[]) => `${paragraphs.join('\n\n')}\n`;

/** Before the colon is the language’s own way; an address stands on a line of its own, so that it can be clicked. */
const linked = (sentence: string, url: string) => `${sentence}\n${url}`;

export const MAIL_TEXTS: Readonly<Record<WidgetLocale, MailTexts>> = {
  en: {
    code: (partner, code) => ({
      subject: `${code} is your code for ${partner}`,
      text: lines(
        `Your code for ${partner} is ${code}.`,
        'It is valid for 10 minutes. Do not pass it on: we will never ask you for it.',
        'If you did not ask for it, you can ignore this message.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `Your order with ${partner}`,
      text: lines(
        `Your order ${orderId} with ${partner} is open.`,
        url === null
          ? `You can continue at ${partner} at any time, on any device, with this e-mail address.`
          : linked('You can continue here at any time, on any device, with this e-mail address:', url),
      ),
    }),
  },
  fr: {
    code: (partner, code) => ({
      subject: `${code} est votre code pour ${partner}`,
      text: lines(
        `Votre code pour ${partner} est ${code}.`,
        'Il est valable 10 minutes. Ne le communiquez à personne : nous ne vous le demanderons jamais.',
        'Si vous ne l’avez pas demandé, vous pouvez ignorer ce message.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `Votre commande chez ${partner}`,
      text: lines(
        `Votre commande ${orderId} chez ${partner} est ouverte.`,
        url === null
          ? `Vous pouvez la reprendre chez ${partner} à tout moment, sur tout appareil, avec cette adresse e-mail.`
          : linked(
              'Vous pouvez la reprendre ici à tout moment, sur tout appareil, avec cette adresse e-mail :',
              url,
            ),
      ),
    }),
  },
  es: {
    code: (partner, code) => ({
      subject: `${code} es tu código para ${partner}`,
      text: lines(
        `Tu código para ${partner} es ${code}.`,
        'Es válido durante 10 minutos. No lo compartas: nunca te lo pediremos.',
        'Si no lo has solicitado, puedes ignorar este mensaje.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `Tu orden en ${partner}`,
      text: lines(
        `Tu orden ${orderId} en ${partner} está abierta.`,
        url === null
          ? `Puedes continuar en ${partner} en cualquier momento, desde cualquier dispositivo, con este correo electrónico.`
          : linked(
              'Puedes continuar aquí en cualquier momento, desde cualquier dispositivo, con este correo electrónico:',
              url,
            ),
      ),
    }),
  },
  pt: {
    code: (partner, code) => ({
      subject: `${code} é seu código para ${partner}`,
      text: lines(
        `Seu código para ${partner} é ${code}.`,
        'Vale por 10 minutos. Não o compartilhe: nunca vamos pedi-lo a você.',
        'Se você não o pediu, ignore esta mensagem.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `Seu pedido em ${partner}`,
      text: lines(
        `Seu pedido ${orderId} em ${partner} está em aberto.`,
        url === null
          ? `Você pode continuar em ${partner} a qualquer momento, em qualquer dispositivo, com este endereço de e-mail.`
          : linked(
              'Você pode continuar aqui a qualquer momento, em qualquer dispositivo, com este endereço de e-mail:',
              url,
            ),
      ),
    }),
  },
  ar: {
    code: (partner, code) => ({
      subject: `${code} هو رمزك لدى ${partner}`,
      text: lines(
        `رمزك لدى ${partner} هو ${code}.`,
        'الرمز صالح لمدة 10 دقائق. لا تشاركه مع أحد، فلن نطلبه منك أبدًا.',
        'إذا لم تطلب هذا الرمز فيمكنك تجاهل هذه الرسالة.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `طلبك لدى ${partner}`,
      text: lines(
        `طلبك ${orderId} لدى ${partner} مفتوح.`,
        url === null
          ? `يمكنك المتابعة لدى ${partner} في أي وقت ومن أي جهاز باستخدام عنوان البريد الإلكتروني هذا.`
          : linked('يمكنك المتابعة هنا في أي وقت ومن أي جهاز باستخدام عنوان البريد الإلكتروني هذا:', url),
      ),
    }),
  },
  hi: {
    code: (partner, code) => ({
      subject: `${code} ${partner} के लिए आपका कोड है`,
      text: lines(
        `${partner} के लिए आपका कोड ${code} है।`,
        'यह 10 मिनट तक मान्य है। इसे किसी को न बताएँ: हम आपसे यह कभी नहीं माँगेंगे।',
        'यदि आपने इसे नहीं माँगा था, तो इस संदेश को अनदेखा कर सकते हैं।',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `${partner} पर आपका ऑर्डर`,
      text: lines(
        `${partner} पर आपका ऑर्डर ${orderId} खुला है।`,
        url === null
          ? `आप कभी भी, किसी भी डिवाइस पर, इस ई-मेल पते से ${partner} पर आगे बढ़ सकते हैं।`
          : linked('आप कभी भी, किसी भी डिवाइस पर, इस ई-मेल पते से यहाँ आगे बढ़ सकते हैं:', url),
      ),
    }),
  },
  zh: {
    code: (partner, code) => ({
      subject: `${code} 是您在 ${partner} 的验证码`,
      text: lines(
        `您在 ${partner} 的验证码是 ${code}。`,
        '验证码 10 分钟内有效。请勿告诉他人，我们绝不会向您索要。',
        '如果这不是您本人的操作，请忽略此邮件。',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `您在 ${partner} 的订单`,
      text: lines(
        `您在 ${partner} 的订单 ${orderId} 正在进行中。`,
        url === null
          ? `您可以随时在任何设备上通过 ${partner} 使用此邮箱继续操作。`
          : linked('您可以随时在任何设备上使用此邮箱从这里继续：', url),
      ),
    }),
  },
  sw: {
    code: (partner, code) => ({
      subject: `${code} ni msimbo wako wa ${partner}`,
      text: lines(
        `Msimbo wako wa ${partner} ni ${code}.`,
        'Unatumika kwa dakika 10. Usimpe mtu yeyote: hatutakuomba kamwe.',
        'Ikiwa hukuuomba, unaweza kupuuza ujumbe huu.',
      ),
    }),
    order: (partner, orderId, url) => ({
      subject: `Oda yako kwa ${partner}`,
      text: lines(
        `Oda yako ${orderId} kwa ${partner} iko wazi.`,
        url === null
          ? `Unaweza kuendelea kwa ${partner} wakati wowote, kwenye kifaa chochote, kwa anwani hii ya barua pepe.`
          : linked(
              'Unaweza kuendelea hapa wakati wowote, kwenye kifaa chochote, kwa anwani hii ya barua pepe:',
              url,
            ),
      ),
    }),
  },
};
