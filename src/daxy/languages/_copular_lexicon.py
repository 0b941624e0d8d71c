"""Lexicon of `daxy.languages.copular`, English and French.

An adjective is `word: masculine`, or `word: masculine feminine` for irregular ones; a noun has an
article, as `an artist: artiste`. Plurals follow by rules. A phrase has one form.
"""

from __future__ import annotations

ADJECTIVES = """
able: capable; absent: absent; absurd: absurde; active: actif; adorable: adorable; adult: adulte;
afraid: apeuré; aged: âgé; aggressive: agressif; agile: agile; agitated: agité; alert: vigilant;
alive: vivant; alone: seul; amazed: stupéfait; ambitious: ambitieux; amused: amusé; amusing:
amusant; ancient: antique; angry: fâché; annoyed: agacé; annoying: agaçant; anonymous: anonyme;
anxious: anxieux; armed: armé; arrogant: arrogant; artistic: artiste; ashamed: honteux; asleep:
endormi; astonished: étonné; astute: astucieux; athletic: sportif; attentive: attentif; attractive:
attirant; authentic: authentique; available: disponible; average: moyen; awake: éveillé; bad:
mauvais; bald: chauve; banal: banal; bearded: barbu; beautiful: beau belle; biased: partial; big:
grand; bilingual: bilingue; bitter: amer; bizarre: bizarre; blessed: béni; blind: aveugle; blond:
blond; blunt: brusque; bold: audacieux; bored: ennuyé; boring: ennuyeux; bossy: autoritaire; brave:
courageux; brilliant: brillant; broke: fauché; busy: occupé; calm: calme; candid: franc franche;
careful: prudent; careless: négligent; cautious: prudent; certain: certain; charming: charmant;
chatty: bavard; cheerful: joyeux; childish: puéril; civilized: civilisé; clean: propre; clever:
malin maligne; clumsy: maladroit; coherent: cohérent; cold: froid; comical: comique; competent:
compétent; complex: complexe; concerned: soucieux; confident: confiant; confused: confus; conscious:
conscient; consistent: constant; content: content; convinced: convaincu; convincing: convaincant;
correct: correct; corrupt: corrompu; courteous: courtois; cowardly: lâche; crazy: fou folle;
creative: créatif; cruel: cruel; cultivated: cultivé; curious: curieux; cynical: cynique; dangerous:
dangereux; dead: mort; deaf: sourd; deceitful: fourbe; decent: décent; defeated: vaincu; delicate:
délicat; delighted: ravi; delirious: délirant; demanding: exigeant; dependent: dépendant; depressed:
déprimé; desperate: désespéré; determined: déterminé; devoted: dévoué; different: différent;
difficult: difficile; diligent: appliqué; diplomatic: diplomate; direct: direct; dirty: sale;
disappointed: déçu; discouraged: découragé; discreet: discret discrète; dishonest: malhonnête;
disorganized: désorganisé; distracted: distrait; disturbed: perturbé; divorced: divorcé; docile:
docile; drunk: ivre; dynamic: dynamique; eager: avide; educated: instruit; efficient: efficace;
elated: exalté; elegant: élégant; eloquent: éloquent; embarrassed: embarrassé; emotional: émotif;
encouraging: encourageant; energetic: énergique; engaged: fiancé; enormous: énorme; enthusiastic:
enthousiaste; envious: envieux; equal: égal; ethical: éthique; evil: maléfique; exact: exact;
excellent: excellent; excited: excité; exhausted: épuisé; experienced: expérimenté; explosive:
explosif; extraordinary: extraordinaire; extravagant: extravagant; fair: juste; faithful: fidèle;
famous: célèbre; fanatical: fanatique; fascinating: fascinant; fast: rapide; fat: gros grosse;
fatal: fatal; fearless: intrépide; feverish: fiévreux; fierce: féroce; fired: viré; flattered:
flatté; flexible: souple; foolish: sot sotte; forgetful: oublieux; forgiven: pardonné; formidable:
redoutable; fortunate: chanceux; fragile: fragile; frank: franc franche; free: libre; friendly:
amical; frightened: effrayé; frightening: effrayant; frustrated: frustré; funny: drôle; furious:
furieux; fussy: tatillon; generous: généreux; gentle: doux douce; gifted: doué; glad: content;
gloomy: morose; good: bon bonne; gorgeous: splendide; grateful: reconnaissant; great: formidable;
greedy: gourmand; grotesque: grotesque; guilty: coupable; handsome: beau belle; happy: heureux;
harmless: inoffensif; healthy: sain; heavy: lourd; helpful: serviable; helpless: désemparé; heroic:
héroïque; hesitant: hésitant; hidden: caché; holy: saint; honest: honnête; honorable: honorable;
hopeful: optimiste; horrible: horrible; hostile: hostile; huge: immense; humble: humble; humiliated:
humilié; hungry: affamé; hurt: blessé; hysterical: hystérique; idealistic: idéaliste; idle: oisif;
ignorant: ignorant; ill: malade; imaginative: imaginatif; immature: immature; immense: immense;
immortal: immortel; immune: immunisé; impartial: impartial; impatient: impatient; impolite: impoli;
important: important; impossible: impossible; impressed: impressionné; impressive: impressionnant;
impulsive: impulsif; in a hurry: pressé; in love: amoureux; incompetent: incompétent; indecisive:
indécis; independent: indépendant; indifferent: indifférent; indignant: indigné; indispensable:
indispensable; influential: influent; injured: blessé; innocent: innocent; insane: dément;
insistent: insistant; insolent: insolent; inspired: inspiré; intelligent: intelligent; interested:
intéressé; interesting: intéressant; intolerant: intolérant; intriguing: intrigant; introverted:
introverti; invincible: invincible; invisible: invisible; irresistible: irrésistible; irresponsible:
irresponsable; irritable: irritable; irritated: irrité; isolated: isolé; jealous: jaloux jalouse;
joyful: joyeux; just: juste; kind: gentil gentille; lazy: paresseux; lenient: indulgent; liberal:
libéral; light: léger; literate: lettré; lively: vif; logical: logique; lonely: solitaire; lost:
perdu; lovely: ravissant; loyal: loyal; lucid: lucide; lucky: chanceux; mad: fou folle; magnificent:
magnifique; malicious: malveillant; married: marié; mature: mûr; mean: méchant; mediocre: médiocre;
melancholic: mélancolique; mellow: doux douce; merciful: clément; methodical: méthodique;
mischievous: espiègle; miserable: misérable; mobile: mobile; moderate: modéré; modern: moderne;
modest: modeste; moody: lunatique; moral: moral; motivated: motivé; moved: ému; moving: émouvant;
musical: musical; mute: muet; mysterious: mystérieux; naive: naïf; narcissistic: narcissique; nasty:
méchant; natural: naturel; naughty: vilain; necessary: nécessaire; neglected: négligé; nervous:
nerveux; neutral: neutre; new: nouveau nouvelle; nice: gentil gentille; normal: normal; nostalgic:
nostalgique; numerous: nombreux; obedient: obéissant; objective: objectif; obscene: obscène;
obsessed: obsédé; obstinate: obstiné; odd: étrange; offended: offensé; offensive: offensant; old:
vieux vieille; open: ouvert; opposed: opposé; optimistic: optimiste; ordinary: ordinaire; organized:
organisé; original: original; outraged: outré; overwhelmed: débordé; paid: payé; pale: pâle;
paralyzed: paralysé; paranoid: paranoïaque; passionate: passionné; passive: passif; patient:
patient; peaceful: paisible; perfect: parfait; persistent: persistant; persuasive: persuasif;
perverse: pervers; pessimistic: pessimiste; petrified: pétrifié; polite: poli; poor: pauvre;
popular: populaire; possessive: possessif; powerful: puissant; practical: pratique; pragmatic:
pragmatique; precious: précieux; precise: précis; prepared: préparé; present: présent; pretty: joli;
proud: fier; provocative: provocant; prudent: prudent; psychic: voyant; punctual: ponctuel;
punished: puni; pure: pur; puzzled: perplexe; qualified: qualifié; quarrelsome: querelleur; quick:
rapide; quiet: silencieux; radical: radical; rash: téméraire; rational: rationnel; ready: prêt;
realistic: réaliste; reasonable: raisonnable; rebellious: rebelle; reckless: imprudent; refined:
raffiné; relaxed: détendu; reliable: fiable; relieved: soulagé; religious: pieux; reluctant:
réticent; remarkable: remarquable; resentful: rancunier; reserved: réservé; resourceful:
débrouillard; respected: respecté; respectful: respectueux; responsible: responsable; rested:
reposé; restless: agité; retired: retraité; rich: riche; ridiculous: ridicule; rigid: rigide;
rigorous: rigoureux; romantic: romantique; rude: grossier; ruined: ruiné; ruthless: impitoyable;
sad: triste; sarcastic: sarcastique; satisfied: satisfait; savage: sauvage; scandalous: scandaleux;
scared: effrayé; secretive: secret secrète; seductive: séduisant; selfish: égoïste; sensible:
raisonnable; sensitive: sensible; sentimental: sentimental; separated: séparé; serene: serein;
serious: sérieux; severe: sévère; shocked: choqué; shocking: choquant; short: petit petite; shy:
timide; sick: malade; silent: silencieux; silly: bête; simple: simple; sincere: sincère; single:
célibataire; skeptical: sceptique; skillful: habile; sleepy: somnolent; slim: mince; slow: lent;
small: petit; smart: intelligent; sober: sobre; sociable: sociable; solid: solide; soothing:
apaisant; sorry: désolé; special: spécial; speechless: muet; spiteful: méchant; splendid: splendide;
spoiled: gâté; spontaneous: spontané; stable: stable; starved: affamé; stern: sévère; stingy: avare;
strange: étrange; strict: strict; strong: fort; stubborn: têtu; studious: studieux; stunned:
stupéfait; stupid: stupide; subtle: subtil; successful: prospère; superb: superbe; superficial:
superficiel; superior: supérieur supérieure; superstitious: superstitieux; sure: sûr; surprised:
surpris; surprising: surprenant; suspicious: méfiant; sweet: mignon; sympathetic: compatissant;
systematic: systématique; tactful: délicat; talented: talentueux; talkative: bavard; tall: grand;
tempted: tenté; tenacious: tenace; tender: tendre; tense: tendu; terrible: terrible; terrific:
formidable; terrified: terrifié; thin: maigre; thirsty: assoiffé; thorough: minutieux; thoughtful:
prévenant; thrifty: économe; tidy: ordonné; timid: timide; tiny: minuscule; tired: fatigué;
tolerant: tolérant; touched: touché; touchy: susceptible; tough: dur; tranquil: tranquille; trapped:
piégé; treacherous: traître traîtresse; trembling: tremblant; troubled: troublé; trustworthy:
fiable; typical: typique; ugly: laid; unable: incapable; unarmed: désarmé; unbearable:
insupportable; unbeatable: imbattable; uncertain: incertain; unconscious: inconscient; unfair:
injuste; unfaithful: infidèle; unforgettable: inoubliable; unhappy: malheureux; unique: unique;
united: uni; unjust: injuste; unknown: inconnu; unlucky: malchanceux; unpopular: impopulaire;
unpredictable: imprévisible; unreliable: instable; upset: contrarié; useful: utile; useless:
inutile; vain: vaniteux; vegetarian: végétarien; vicious: vicieux; vigilant: vigilant; vigorous:
vigoureux; violent: violent; virtuous: vertueux; visible: visible; vulgar: vulgaire; vulnerable:
vulnérable; wary: méfiant; weak: faible; wealthy: riche; weird: bizarre; wet: mouillé; wicked:
cruel; wild: sauvage; willing: disposé; wise: sage; witty: spirituel; worried: inquiet inquiète;
worthless: inutile; worthy: digne; wounded: blessé; young: jeune; zealous: zélé
"""

NOUNS = """
an accountant: comptable; an actor: acteur actrice; an amateur: amateur amateure; an American:
Américain; an archaeologist: archéologue; an architect: architecte; an artist: artiste; an
astronaut: astronaute; an athlete: athlète; an author: auteur autrice; a baker: boulanger; a banker:
banquier; a barber: barbier; a beginner: débutant; a biologist: biologiste; a butcher: boucher; a
carpenter: charpentier; a chemist: chimiste; a citizen: citoyen; a coach: entraîneur; a comedian:
humoriste; a cook: cuisinier; a dancer: danseur; a dentist: dentiste; a designer: styliste; a
detective: détective; a diplomat: diplomate; a director: directeur directrice; a doctor: médecin
médecin; a driver: chauffeur chauffeuse; an economist: économiste; an editor: éditeur éditrice; an
electrician: électricien; an employee: employé; an engineer: ingénieur ingénieure; an expert:
expert; a farmer: fermier; a gardener: jardinier; a geologist: géologue; a guide: guide; a
guitarist: guitariste; a hairdresser: coiffeur; a historian: historien; a hunter: chasseur; an
inventor: inventeur inventrice; a journalist: journaliste; a judge: juge; a lawyer: avocat; a
librarian: bibliothécaire; a linguist: linguiste; a mathematician: mathématicien; a mechanic:
mécanicien; a merchant: marchand; a musician: musicien; a novelist: romancier; a nurse: infirmier; a
painter: peintre; a pharmacist: pharmacien; a philosopher: philosophe; a photographer: photographe;
a physicist: physicien; a pianist: pianiste; a pilot: pilote; a plumber: plombier; a poet: poète; a
police officer: policier; a politician: politicien; a professor: professeur professeure; a
psychologist: psychologue; a refugee: réfugié; a reporter: reporter reporter; a researcher:
chercheur; a sculptor: sculpteur sculptrice; a singer: chanteur; a soldier: soldat; a specialist:
spécialiste; a student: étudiant; a surgeon: chirurgien; a swimmer: nageur; a teacher: enseignant; a
technician: technicien; a tourist: touriste; a translator: traducteur traductrice; a veterinarian:
vétérinaire; a volunteer: bénévole; a cashier: caissier; a witness: témoin témoin; a worker:
ouvrier; a writer: écrivain
"""

PHRASES = """
abroad: à l'étranger; at ease: à l'aise; at home: à la maison; at school: à l'école; at the station:
à la gare; at work: au travail; back: de retour; by the sea: au bord de la mer; downstairs: en bas;
early: en avance; from here: d'ici; here: ici; here again: encore ici; in bed: au lit; in danger: en
danger; in good health: en bonne santé; in the car: dans la voiture; in the garden: dans le jardin;
in the kitchen: dans la cuisine; in trouble: dans le pétrin; inside: à l'intérieur; late: en retard;
nearby: tout près; next to the door: à côté de la porte; a few steps away: à deux pas; on duty: de
service; on holiday: en vacances; on strike: en grève; on the bus: dans le bus; on the list: sur la
liste; on time: à l'heure; out of breath: à bout de souffle; outside: dehors; over there: là-bas;
upstairs: en haut; with friends: avec des amis; without work: sans travail
"""
