// Methods of assemblies without a file: those that are emitted are all called the same, and their
// methods have the same tokens.
using System;
using System.Reflection;
using System.Reflection.Emit;

public class Emission { public long A; }

static class Emitted
{
    static Action Emit(string name)
    {
        ModuleBuilder module = AssemblyBuilder
            .DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Run)
            .DefineDynamicModule(name);
        TypeBuilder type = module.DefineType($"{name}Type", TypeAttributes.Public);
        MethodBuilder method = type.DefineMethod(
            $"{name}Method", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes);
        ILGenerator il = method.GetILGenerator();

        method.SetImplementationFlags(MethodImplAttributes.NoInlining);
        il.Emit(OpCodes.Newobj, typeof(Emission).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ret);
        return type.CreateType().GetMethod($"{name}Method").CreateDelegate<Action>();
    }

    // emitted N: N objects by each of three methods.
    public static void Run(int n)
    {
        foreach (string name in new[] { "First", "Second", "Third" })
        {
            Action method = Emit(name);
            for (int i = 0; i < n; i++)
                method();
        }
    }
}
